package dev.postrider.server;

import dev.postrider.admin.TopicStatus;
import dev.postrider.server.cli.AdminBackend;
import dev.postrider.server.cli.ExitCode;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code postrider status}: shows the status of each topic. */
@Command(name = "status", description = "Show how many messages wait, retry or are dead, for each topic.")
final class StatusCommand implements Callable<Integer> {

    /** The format of the result. */
    enum Output {
        table,
        json,
        ndjson
    }

    @Mixin
    private final DatabaseOptions database = new DatabaseOptions();

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            description = "table for people (the default), json for programs, or ndjson: one JSON object on each line.")
    private Output output = Output.table;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        return database.admin(this::show);
    }

    private int show(AdminBackend admin) {
        List<TopicStatus> topics = admin.status();
        String text = switch (output) {
            case json -> StatusText.json(topics);
            case ndjson -> StatusText.ndjson(topics);
            case table -> StatusText.table(topics);
        };
        if (!text.isEmpty()) {
            spec.commandLine().getOut().println(text);
        }
        return ExitCode.OK;
    }
}
