package dev.postrider.idempotency;

import dev.postrider.store.CommandId;
import dev.postrider.store.CommandPrint;
import dev.postrider.store.CommandRecord;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * One request for one command, made by one thread of this node for all that come with the same meanwhile. Ends in two steps: what the
 * row said, and, if the command was to be run or waited for, what came of it. Thread-safe.
 */
final class Flight {

    /** Requests with the same identity and another fingerprint have nothing to share. */
    record Route(CommandId id, CommandPrint print) {}

    private final Route route;
    private final Semaphore seats;
    private final Gate told;
    private final Gate over;
    private volatile @Nullable Verdict verdict;
    private volatile @Nullable RuntimeException failure;
    private volatile Optional<CommandRecord> end = Optional.empty();

    Flight(Route route, int seats, Surroundings surroundings) {
        this.route = route;
        this.seats = new Semaphore(seats);
        this.told = surroundings.gate();
        this.over = surroundings.gate();
    }

    Route route() {
        return route;
    }

    /** How many may wait for the end. */
    Semaphore seats() {
        return seats;
    }

    /** What the row said. */
    void tell(Verdict said) {
        verdict = said;
        told.open();
    }

    /** The row could not be asked; one that was told what it said does not hear of this. */
    void fail(Throwable reason) {
        failure = reason instanceof RuntimeException unchecked ? unchecked : null;
        told.open();
    }

    /** @param row empty when the one who flew has nothing to share: it failed, or gave up waiting */
    void end(Optional<CommandRecord> row) {
        end = row;
        over.open();
    }

    /**
     * Waits for what the row says.
     *
     * @return empty when the one who flew could not go on, for a reason that is his own
     */
    Optional<Verdict> awaitVerdict() throws InterruptedException {
        boolean open = told.await(Long.MAX_VALUE);
        Verdict said = verdict;
        RuntimeException reason = failure;
        if (open && said == null && reason != null) {
            throw reason;
        }
        return Optional.ofNullable(said);
    }

    /** Waits for the end; says whether it came in time. */
    boolean awaitEnd(long nanos) throws InterruptedException {
        return over.await(nanos);
    }

    /** As it was told by {@link #end(Optional)}, if it was. */
    Optional<CommandRecord> end() {
        return end;
    }
}
