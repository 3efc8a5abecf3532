package dev.postrider.simulation;

import java.time.Duration;

/** The machine that a node or another program runs on: all of its threads stop together. */
public final class Host {

    private final String name;
    private long frozenUntil;
    private boolean killed;
    private long wallOffset;

    public Host(String name) {
        this.name = name;
    }

    public String name() {
        return name;
    }

    public boolean isKilled() {
        return killed;
    }

    public void kill() {
        killed = true;
    }

    void freezeUntil(long nanos) {
        frozenUntil = nanos;
    }

    /** When something that is to go on at this time can go on. */
    long earliest(long nanos) {
        return killed ? Conductor.NEVER : Math.max(nanos, frozenUntil);
    }

    /** How far its wall clock is ahead of the others'. */
    public long wallOffset() {
        return wallOffset;
    }

    public void stepWall(Duration step) {
        wallOffset += step.toNanos();
    }
}
