package dev.postrider.torture;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A process is killed in the middle of whatever it does; another takes its place later. */
final class KillProcess implements Fault {

    /** One in so many may be killed on its way to work. */
    private static final int EARLY_SHARE = 5;

    private final List<Slot> slots;
    private final String kind;
    private final int pick;
    private @Nullable Slot slot;
    private String target = "";

    /**
     * @param slots from which one is picked
     * @param kind the beginning of the process's name
     */
    KillProcess(List<Slot> slots, String kind, int pick) {
        this.slots = slots;
        this.kind = kind;
        this.pick = pick;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        Slot taken = Slot.takeOne(slots, pick, pick / 1000 % EARLY_SHARE == 0);
        if (taken == null) {
            return false;
        }
        slot = taken;
        target = kind + "-" + taken.current().number();
        taken.current().kill();
        return true;
    }

    @Override
    public void end() {
        if (slot != null) {
            try {
                slot.start();
            } finally {
                slot.giveBack();
            }
        }
    }
}
