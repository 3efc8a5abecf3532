package dev.postrider.torture;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The server executes a request, and its answer does not reach the client. */
final class SwallowCommit implements Fault {

    private static final long PATIENCE_SECONDS = 3;

    private final Slot slot;
    private final boolean any;

    /** @param any whether the request may be any; otherwise it is a COMMIT, if one is sent as text within the time */
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
