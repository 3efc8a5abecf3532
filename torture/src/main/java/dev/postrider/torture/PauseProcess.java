package dev.postrider.torture;

import java.time.Duration;

/** A process stands still for longer than its leases, and goes on as if nothing had been. */
final class PauseProcess implements Fault {

    private final Slot slot;
    private final String kind;
    private final Duration length;
    private String target = "";

    /** @param kind the beginning of the process's name */
    PauseProcess(Slot slot, String kind, Duration length) {
        this.slot = slot;
        this.kind = kind;
        this.length = length;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        if (!slot.takeAtWork()) {
            return false;
        }
        target = kind + "-" + slot.current().number();
        slot.current().freeze(length);
        return true;
    }

    @Override
    public void end() {
        slot.giveBack();
    }
}
