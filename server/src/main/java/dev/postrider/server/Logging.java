package dev.postrider.server;

/** Sets up slf4j-simple. Must run before the first logger is made, which is why no command holds a logger of its own. */
final class Logging {

    private static final String PREFIX = "org.slf4j.simpleLogger.";

    private Logging() {}

    /** @param level of Postrider's own loggers; everything else speaks up from warnings on */
    static void configure(String level) {
        set("defaultLogLevel", "warn");
        set("log.dev.postrider", level);
        set("showDateTime", "true");
        set("dateTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX");
        set("showThreadName", "false");
    }

    /** What was given with {@code -D} stays. */
    private static void set(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
