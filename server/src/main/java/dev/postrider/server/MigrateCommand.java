package dev.postrider.server;

import dev.postrider.jdbc.JdbcDatabase;
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
        Logging.configure(Main.isVerbose(spec.commandLine()) ? "debug" : "warn");
        return database.run(dryRun ? this::print : this::migrate);
    }

    private int print(JdbcDatabase database) {
        PrintWriter out = spec.commandLine().getOut();
        database.script().forEach(statement -> out.println(statement + ";\n"));
        return ExitCode.OK;
    }

    private int migrate(JdbcDatabase database) {
        int applied = database.migrate();
        database.check();
        spec.commandLine()
                .getOut()
                .println(
                        applied == 0
                                ? "The tables were up to date."
                                : "The tables are up to date now: applied " + applied
                                        + (applied == 1 ? " version." : " versions."));
        return ExitCode.OK;
    }
}
