package dev.postrider.server;

import org.jspecify.annotations.Nullable;

/** Ends a command with one line for the user and an exit code for the shell. */
final class CommandFailure extends RuntimeException {

    private final int exitCode;

    private CommandFailure(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    static CommandFailure usage(String message) {
        return new CommandFailure(ExitCode.USAGE, message, null);
    }

    static CommandFailure unreachable(String message, Throwable cause) {
        return new CommandFailure(ExitCode.UNREACHABLE, message, cause);
    }

    static CommandFailure schema(String message, Throwable cause) {
        return new CommandFailure(ExitCode.SCHEMA, message, cause);
    }

    int exitCode() {
        return exitCode;
    }
}
