package dev.postrider.server;

import dev.postrider.server.cli.Migration;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code postrider migrate}: creates or upgrades the tables, or prints the SQL for that. */
@Command(
        name = "migrate",
        description = "Create or upgrade Postrider's tables. Safe to run again, and on many machines at once.")
final class MigrateCommand implements Callable<Integer> {

    @Mixin
    private final DatabaseOptions database = new DatabaseOptions();

    @Option(
            names = "--dry-run",
            description = "Change nothing; print the SQL that brings the tables into an empty database.")
    private boolean dryRun;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        return database.database(found -> dryRun ? Migration.print(found, out) : Migration.apply(found, out));
    }
}
