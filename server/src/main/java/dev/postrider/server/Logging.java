package dev.postrider.server;

import java.util.logging.Level;
import java.util.logging.Logger;

/** Configures slf4j-simple. Must run before the first logger is created, so no command has a logger in a field. */
final class Logging {

    private static final String PREFIX = "org.slf4j.simpleLogger.";

    /** A strong reference: a logger without one can be collected as garbage, and its level is lost. */
    private static final Logger POSTGRESQL = Logger.getLogger("org.postgresql");

    private Logging() {}

    /**
     * Switches off the log of the PostgreSQL driver: it logs URLs that it cannot parse, with their passwords. Relevant
     * errors are also thrown as exceptions.
     */
    static void silenceDriver() {
        POSTGRESQL.setLevel(Level.OFF);
    }

    /** @param level the level of Postrider's own loggers; all others log from warnings on */
    static void configure(String level) {
        set("defaultLogLevel", "warn");
        set("log.dev.postrider", level);
        set("showDateTime", "true");
        set("dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        set("showThreadName", "false");
    }

    /** Sets a property of slf4j-simple. A value that was given with {@code -D} stays. */
    private static void set(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
