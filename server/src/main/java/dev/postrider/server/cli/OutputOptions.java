package dev.postrider.server.cli;

import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The form of a result, for every verb. */
final class OutputOptions {

    @Option(
            names = "--output",
            paramLabel = "FORMAT",
            description = "table for people (the default), json for programs, or ndjson: one JSON object on each line.")
    private Report.Format format = Report.Format.table;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command = CommandSpec.create();

    private final Terminal terminal;

    OutputOptions(Terminal terminal) {
        this.terminal = terminal;
    }

    Report report() {
        return new Report(format, command.commandLine().getOut(), terminal);
    }

    /** Where questions and progress go, so that what a verb prints stays its own. */
    PrintWriter aside() {
        return command.commandLine().getErr();
    }

    Terminal terminal() {
        return terminal;
    }
}
