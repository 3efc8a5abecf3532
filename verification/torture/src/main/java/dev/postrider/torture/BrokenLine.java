package dev.postrider.torture;

import dev.postrider.testkit.FaultyProxy;
import java.time.Duration;

/** A fault of the connection between a process and the database. */
final class BrokenLine implements Fault {

    /** A change of the proxy's behaviour. */
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

    /** Closes all connections at once. New connections work as before. */
    static Fault cut(Slot slot) {
        return new BrokenLine(slot, FaultyProxy::cut, proxy -> {});
    }

    /** Delays all traffic. */
    static Fault delay(Slot slot, Duration delay) {
        return new BrokenLine(slot, proxy -> proxy.delay(delay), proxy -> proxy.delay(Duration.ZERO));
    }

    /** Keeps connections open but lets no data pass. At the end the connections are closed. */
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
