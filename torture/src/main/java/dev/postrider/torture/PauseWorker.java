package dev.postrider.torture;

import java.time.Duration;

/** A worker stands still for longer than its lease, and goes on as if nothing had been. */
final class PauseWorker implements Fault {

    private final Slot slot;
    private final Duration length;
    private String target = "";

    PauseWorker(Slot slot, Duration length) {
        this.slot = slot;
        this.length = length;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        if (!slot.take()) {
            return false;
        }
        target = "worker-" + slot.current().number();
        slot.current().freeze(length);
        return true;
    }

    @Override
    public void end() {
        slot.giveBack();
    }
}
