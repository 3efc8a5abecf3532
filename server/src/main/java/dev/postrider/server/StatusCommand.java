package dev.postrider.server;

import dev.postrider.admin.TopicStatus;
import dev.postrider.jdbc.JdbcDatabase;
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
        json
    }

    @Mixin
    private final DatabaseOptions database = new DatabaseOptions();

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            description = "table for people (the default) or json for programs.")
    private Output output = Output.table;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        Logging.configure(Main.isVerbose(spec.commandLine()) ? "debug" : "warn");
        return database.run(this::show);
    }

    private int show(JdbcDatabase database) {
        database.check();
        List<TopicStatus> topics = database.admin().status();
        String text = output == Output.json ? StatusText.json(topics) : StatusText.table(topics);
        spec.commandLine().getOut().println(text);
        return ExitCode.OK;
    }
}
