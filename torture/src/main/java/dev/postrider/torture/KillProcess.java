package dev.postrider.torture;

/** A process is killed in the middle of whatever it does; another takes its place later. */
final class KillProcess implements Fault {

    private final Slot slot;
    private final String kind;
    private final boolean early;
    private String target = "";

    /**
     * @param kind the beginning of the process's name
     * @param early whether it may be killed before it has come to work
     */
    KillProcess(Slot slot, String kind, boolean early) {
        this.slot = slot;
        this.kind = kind;
        this.early = early;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public boolean begin() {
        if (!(early ? slot.take() : slot.takeAtWork())) {
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
