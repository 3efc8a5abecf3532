package dev.postrider.torture;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The server does what it was asked and the client never hears of it. */
final class SwallowCommit implements Fault {

    private static final long PATIENCE_SECONDS = 3;

    private final Slot slot;
    private final boolean any;

    /** @param any whether it may be any request; otherwise it is a commit, if one comes whose text can be seen */
    SwallowCommit(Slot slot, boolean any) {
        this.slot = slot;
        this.any = any;
    }

    @Override
    public String target() {
        return slot.name();
    }

    @Override
    public boolean begin() throws InterruptedException, ExecutionException {
        Future<Integer> lost = slot.proxy().loseAnswerTo(any ? "" : "COMMIT");
        try {
            return lost.get(PATIENCE_SECONDS, TimeUnit.SECONDS) > 0;
        } catch (TimeoutException e) {
            slot.proxy().loseNothing();
            return false;
        }
    }

    @Override
    public void end() {}
}
