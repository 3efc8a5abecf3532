package dev.postrider.server.cli;

import org.jspecify.annotations.Nullable;

/** Ends a command with one line for the user and an exit code for the shell. */
public final class CommandFailure extends RuntimeException {

    private final int exitCode;

    private CommandFailure(int exitCode, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
    }

    public static CommandFailure usage(String message) {
        return new CommandFailure(ExitCode.USAGE, message, null);
    }

    public static CommandFailure unreachable(String message, @Nullable Throwable cause) {
        return new CommandFailure(ExitCode.UNREACHABLE, message, cause);
    }

    public static CommandFailure schema(String message, Throwable cause) {
        return new CommandFailure(ExitCode.SCHEMA, message, cause);
    }

    static CommandFailure declined() {
        return new CommandFailure(ExitCode.FAILED, "Nothing was changed", null);
    }

    /** The other side understood the request and refuses it. */
    public static CommandFailure refused(String message) {
        return new CommandFailure(ExitCode.FAILED, message, null);
    }

    static CommandFailure notFound(String message) {
        return new CommandFailure(ExitCode.NOT_FOUND, message, null);
    }

    public int exitCode() {
        return exitCode;
    }
}
