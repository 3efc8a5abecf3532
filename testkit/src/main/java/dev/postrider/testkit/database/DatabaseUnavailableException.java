package dev.postrider.testkit.database;

import org.jspecify.annotations.Nullable;

/** Thrown when an engine cannot run on this machine. The message names the engine, the reason, and the way to fix it. */
public final class DatabaseUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Engine engine;
    private final String reason;
    private final String fix;

    public DatabaseUnavailableException(Engine engine, String reason, String fix) {
        this(engine, reason, fix, null);
    }

    DatabaseUnavailableException(Engine engine, String reason, String fix, @Nullable Throwable cause) {
        super(engine.displayName() + " cannot start here: " + reason + "; " + fix, cause);
        this.engine = engine;
        this.reason = reason;
        this.fix = fix;
    }

    public Engine engine() {
        return engine;
    }

    public String reason() {
        return reason;
    }

    public String fix() {
        return fix;
    }
}
