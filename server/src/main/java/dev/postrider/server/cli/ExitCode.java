package dev.postrider.server.cli;

/** The exit codes of the process. They are part of the interface: documented, and never changed in meaning. */
public final class ExitCode {

    public static final int OK = 0;
    public static final int FAILED = 1;
    public static final int USAGE = 2;
    public static final int UNREACHABLE = 3;
    public static final int SCHEMA = 4;

    /** The filter of an action selected no message. */
    public static final int NOTHING_MATCHED = 5;

    /** Some of the selected messages were not changed: they were skipped, or beyond the limit. */
    public static final int IN_PART = 6;

    /** The message, the topic or the command does not exist. */
    public static final int NOT_FOUND = 7;

    /** The message or the topic is in a state that does not allow the change, or is in use at this moment. */
    public static final int WRONG_STATE = 8;

    /** The worst finding of the diagnosis is a warning. */
    public static final int WARNINGS = 9;

    /** The diagnosis found an error. */
    public static final int ERRORS = 10;

    private ExitCode() {}
}
