package dev.postrider.server.cli;

import dev.postrider.jdbc.JdbcDatabase;
import java.io.PrintWriter;

/** The migration of the tables, for the two names of the command. */
public final class Migration {

    private Migration() {}

    /** Migrates the tables, checks them, and says what was done. */
    public static int apply(JdbcDatabase database, PrintWriter out) {
        int applied = database.migrate();
        database.check();
        out.println(
                applied == 0
                        ? "The tables were up to date."
                        : "The tables are up to date now: applied " + applied
                                + (applied == 1 ? " version." : " versions."));
        return ExitCode.OK;
    }

    /** Prints the statements that bring the tables into an empty database. */
    public static int print(JdbcDatabase database, PrintWriter out) {
        database.script().forEach(statement -> out.println(statement + ";\n"));
        return ExitCode.OK;
    }
}
