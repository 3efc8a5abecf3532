package dev.postrider.server.cli;

import dev.postrider.jdbc.JdbcDatabase;

/** The options of a verb that say where the messages are, and the connection that they lead to. */
public interface Access {

    /** The work of a verb with the operators' interface. */
    @FunctionalInterface
    interface AdminWork {
        int on(AdminBackend admin);
    }

    /** The work of a verb that needs the database itself. */
    @FunctionalInterface
    interface DatabaseWork {
        int on(JdbcDatabase database);
    }

    /** Connects, checks that the tables or the server can be used, runs the work and disconnects. Returns its exit code. */
    int admin(AdminWork work);

    /**
     * Connects to the database without a check of the tables, runs the work and disconnects. Returns its exit code.
     *
     * @throws CommandFailure when the options lead to an admin API
     */
    int database(DatabaseWork work);
}
