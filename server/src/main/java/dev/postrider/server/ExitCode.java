package dev.postrider.server;

/** The exit codes of the process. They are part of the interface: documented, and never changed in meaning. */
final class ExitCode {

    static final int OK = 0;
    static final int FAILED = 1;
    static final int USAGE = 2;
    static final int UNREACHABLE = 3;
    static final int SCHEMA = 4;

    private ExitCode() {}
}
