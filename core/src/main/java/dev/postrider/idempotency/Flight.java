package dev.postrider.idempotency;

import dev.postrider.store.CommandId;
import dev.postrider.store.CommandPrint;
import dev.postrider.store.CommandRecord;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * One request for one command, made by one thread of this node for all that come with the same meanwhile. Ends in two steps: what the
 * row said, and, if the command was to be run or waited for, what came of it. Thread-safe.
 */
final class Flight {

    /** Requests with the same identity and another fingerprint have nothing to share. */
    record Route(CommandId id, CommandPrint print) {}

    private final Route route;
    private final Semaphore seats;
    private final CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    private final CompletableFuture<Optional<CommandRecord>> end = new CompletableFuture<>();

    Flight(Route route, int seats) {
        this.route = route;
        this.seats = new Semaphore(seats);
    }

    Route route() {
        return route;
    }

    /** How many may wait for the end. */
    Semaphore seats() {
        return seats;
    }

    CompletableFuture<Verdict> verdict() {
        return verdict;
    }

    /** Empty when the one who flew has nothing to share: it failed, or gave up waiting. */
    CompletableFuture<Optional<CommandRecord>> end() {
        return end;
    }
}
