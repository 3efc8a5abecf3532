package dev.postrider.idempotency;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandPrint;
import dev.postrider.internal.store.CommandRecord;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * A call for one command that concurrent callers on this node share. One thread executes it. The call has two steps:
 * the result of the claim and, if the command runs or is in progress, its end. Thread-safe.
 */
final class SharedCall {

    /** The lookup key. Requests with the same identity and different fingerprints do not share a call. */
    record CallKey(CommandId id, CommandPrint print) {}

    private final CallKey route;
    private final Semaphore permits;
    private final Platform.Latch published;
    private final Platform.Latch over;
    private volatile @Nullable CommandClaimResult claimResult;
    private volatile @Nullable RuntimeException failure;
    private volatile Optional<CommandRecord> end = Optional.empty();

    SharedCall(CallKey route, int permits, Platform platform) {
        this.route = route;
        this.permits = new Semaphore(permits);
        this.published = platform.latch();
        this.over = platform.latch();
    }

    CallKey route() {
        return route;
    }

    /** The permits of callers that may wait for the end. */
    Semaphore permits() {
        return permits;
    }

    /** Publishes the result of the claim. */
    void publish(CommandClaimResult said) {
        claimResult = said;
        published.open();
    }

    /** Publishes a failure of the claim. It has no effect on callers that already have the result of the claim. */
    void fail(Throwable reason) {
        failure = reason instanceof RuntimeException unchecked ? unchecked : null;
        published.open();
    }

    /**
     * Publishes the end of the call.
     *
     * @param row empty when there is nothing to share: the executing thread failed or stopped waiting
     */
    void end(Optional<CommandRecord> row) {
        end = row;
        over.open();
    }

    /**
     * Waits for the result of the claim.
     *
     * @return empty when the executing thread failed for a reason that concerns only itself
     */
    Optional<CommandClaimResult> awaitClaimResult() throws InterruptedException {
        boolean open = published.await(Long.MAX_VALUE);
        CommandClaimResult said = claimResult;
        RuntimeException reason = failure;
        if (open && said == null && reason != null) {
            throw reason;
        }
        return Optional.ofNullable(said);
    }

    /** Waits for the end; true if it came in time. */
    boolean awaitEnd(long nanos) throws InterruptedException {
        return over.await(nanos);
    }

    /** The row that {@link #end(Optional)} published; empty before. */
    Optional<CommandRecord> end() {
        return end;
    }
}
