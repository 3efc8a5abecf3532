package dev.postrider.torture;

/** A process is killed in the middle of whatever it does; another takes its place later. */
final class KillProcess implements Fault {

    private final Slot slot;
    private final String kind;
    private String target = "";

    /** @param kind the beginning of the process's name */
    KillProcess(Slot slot, String kind) {
        this.slot = slot;
        this.kind = kind;
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
        target = kind + "-" + slot.current().number();
        slot.current().kill();
        return true;
    }

    @Override
    public void end() {
        try {
            slot.start();
        } finally {
            slot.giveBack();
        }
    }
}
