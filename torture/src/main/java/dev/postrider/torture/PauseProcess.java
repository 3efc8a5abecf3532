package dev.postrider.torture;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process stands still for longer than its leases, and goes on as if nothing had been. */
final class PauseProcess implements Fault {

    private final List<Slot> slots;
    private final String kind;
    private final PlannedFault planned;
    private @Nullable Slot slot;
    private String target = "";

    /**
     * @param slots from which one is picked
     * @param kind the beginning of the process's name
     */
    PauseProcess(List<Slot> slots, String kind, PlannedFault planned) {
        this.slots = slots;
        this.kind = kind;
        this.planned = planned;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        Slot taken = Slot.takeOne(slots, planned.pick(), false);
        if (taken == null) {
            return false;
        }
        slot = taken;
        target = kind + "-" + taken.current().number();
        taken.current().freeze(Duration.ofMillis(planned.lengthMillis()));
        return true;
    }

    @Override
    public void end() {
        if (slot != null) {
            slot.giveBack();
        }
    }
}
