package dev.postrider.torture;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A fault that acts on one of several processes at an arbitrary moment. */
final class StruckProcess implements Fault {

    /** One in this many kills may hit a process that is starting. */
    private static final int EARLY_SHARE = 5;

    private final String kind;
    private final Supplier<@Nullable Slot> choice;
    private final Consumer<Child> blow;
    private final Consumer<Slot> mend;
    private @Nullable Slot slot;
    private String target = "";

    private StruckProcess(String kind, Supplier<@Nullable Slot> choice, Consumer<Child> blow, Consumer<Slot> mend) {
        this.kind = kind;
        this.choice = choice;
        this.blow = blow;
        this.mend = mend;
    }

    /**
     * Kills a process. Another takes its place at the end of the fault.
     *
     * @param slots the slots to pick from
     * @param kind the beginning of the process's name
     */
    static Fault killed(List<Slot> slots, String kind, int pick) {
        boolean early = pick / 1000 % EARLY_SHARE == 0;
        return new StruckProcess(kind, () -> Slot.takeOne(slots, pick, early), Child::kill, Slot::start);
    }

    /** Freezes a process for longer than its leases. Then it continues. */
    static Fault paused(List<Slot> slots, String kind, PlannedFault planned) {
        Duration length = Duration.ofMillis(planned.lengthMillis());
        return new StruckProcess(
                kind, () -> Slot.takeOne(slots, planned.pick(), false), child -> child.freeze(length), resting -> {});
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        Slot taken = choice.get();
        if (taken == null) {
            return false;
        }
        slot = taken;
        target = kind + "-" + taken.current().number();
        blow.accept(taken.current());
        return true;
    }

    @Override
    public void end() {
        if (slot != null) {
            try {
                mend.accept(slot);
            } finally {
                slot.giveBack();
            }
        }
    }
}
