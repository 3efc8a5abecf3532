package dev.postrider.simulation;

import org.jspecify.annotations.Nullable;

/** Waits for a while or for a signal, on virtual time; a signal that comes while no thread waits is kept. One thread waits at a time. */
public final class Signal {

    private final Conductor conductor;
    private boolean pending;
    private @Nullable Strand waiting;

    public Signal(Conductor conductor) {
        this.conductor = conductor;
    }

    public void await(long nanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long until = conductor.nanos() + nanos;
        waiting = conductor.current();
        while (!pending && conductor.nanos() < until) {
            conductor.restUntil(until);
        }
        waiting = null;
        pending = false;
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }

    public void signal() {
        pending = true;
        if (waiting != null) {
            conductor.wake(waiting);
        }
    }
}
