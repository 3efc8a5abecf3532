package dev.postrider.torture;

import dev.postrider.testkit.FaultyProxy;
import java.time.Duration;

/** The line between a process and the database is not as it should be. */
final class BrokenLine implements Fault {

    /** How it is broken. */
    interface Break {

        void apply(FaultyProxy proxy);
    }

    private final Slot slot;
    private final Break breaking;
    private final Break mending;

    private BrokenLine(Slot slot, Break breaking, Break mending) {
        this.slot = slot;
        this.breaking = breaking;
        this.mending = mending;
    }

    /** All connections end at once, and new ones are as before. */
    static Fault cut(Slot slot) {
        return new BrokenLine(slot, FaultyProxy::cut, proxy -> {});
    }

    /** Everything takes longer. */
    static Fault delay(Slot slot, Duration delay) {
        return new BrokenLine(slot, proxy -> proxy.delay(delay), proxy -> proxy.delay(Duration.ZERO));
    }

    /** Connections look open and nothing comes through; in the end they are lost. */
    static Fault halfOpen(Slot slot) {
        return new BrokenLine(slot, FaultyProxy::freeze, proxy -> {
            proxy.cut();
            proxy.thaw();
        });
    }

    @Override
    public String target() {
        return slot.name();
    }

    @Override
    public boolean begin() {
        breaking.apply(slot.proxy());
        return true;
    }

    @Override
    public void end() {
        mending.apply(slot.proxy());
    }
}
