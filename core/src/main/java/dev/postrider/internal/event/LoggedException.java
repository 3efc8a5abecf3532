package dev.postrider.internal.event;

import dev.postrider.internal.ErrorText;
import org.jspecify.annotations.Nullable;

/**
 * A copy of an exception for the log. It has the class names and the stack traces of the exception and of its causes. Its
 * messages are one line without secrets and control characters.
 */
final class LoggedException extends Exception {

    private static final int MAX_CAUSES = 5;

    private static final int MAX_FRAMES = 100;

    private final String text;

    private LoggedException(String text, @Nullable LoggedException cause) {
        super(text, cause, false, true);
        this.text = text;
    }

    /** Returns the copy, or null if the exception cannot be read: its methods belong to the application and may throw. */
    static @Nullable LoggedException copyOf(Throwable failure) {
        try {
            return copyOf(failure, 1);
        } catch (Throwable e) {
            return null;
        }
    }

    private static LoggedException copyOf(Throwable failure, int level) {
        Throwable cause = level < MAX_CAUSES ? failure.getCause() : null; // a cycle of causes ends at the limit
        String message = failure.getMessage();
        String name = failure.getClass().getName();
        String text = message == null ? name : name + ": " + ErrorText.clean(message, LogListener.VALUE_LIMIT);
        LoggedException copy = new LoggedException(text, cause == null ? null : copyOf(cause, level + 1));
        copy.setStackTrace(frames(failure.getStackTrace()));
        return copy;
    }

    private static StackTraceElement[] frames(StackTraceElement[] of) {
        StackTraceElement[] frames = new StackTraceElement[Math.min(of.length, MAX_FRAMES)];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = frame(of[i]);
        }
        return frames;
    }

    /** The names in a stack trace that was received from elsewhere may be anything. */
    private static StackTraceElement frame(StackTraceElement frame) {
        if (frame.toString().chars().allMatch(c -> c >= ' ' && c <= '~')) {
            return frame;
        }
        String file = frame.getFileName();
        return new StackTraceElement(
                ErrorText.clean(frame.getClassName(), LogListener.VALUE_LIMIT),
                ErrorText.clean(frame.getMethodName(), LogListener.VALUE_LIMIT),
                file == null ? null : ErrorText.clean(file, LogListener.VALUE_LIMIT),
                frame.getLineNumber());
    }

    /** Does nothing: the stack trace is that of the original. */
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /** Returns the class name and the message of the original, as the first line of its stack trace would. */
    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of this class would hide that of the original
    public String toString() {
        return text;
    }
}
