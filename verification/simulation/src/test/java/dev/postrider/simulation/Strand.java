package dev.postrider.simulation;

import org.jspecify.annotations.Nullable;

/** A simulated thread. All of it belongs to the thread that has the baton, except the thread that carries it. */
public final class Strand {

    final int number;
    final String name;
    final Host host;
    long wakeAt;

    /** What it has sent to the database goes on there, whatever happens to its host. */
    boolean inDatabase;

    boolean done;
    volatile boolean halted;
    volatile @Nullable Thread carrier;

    Strand(int number, String name, Host host, long wakeAt) {
        this.number = number;
        this.name = name;
        this.host = host;
        this.wakeAt = wakeAt;
    }

    public Host host() {
        return host;
    }

    long earliest() {
        return inDatabase || wakeAt == Conductor.NEVER ? wakeAt : host.earliest(wakeAt);
    }

    @Override
    public String toString() {
        return host.name() + "/" + name;
    }
}
