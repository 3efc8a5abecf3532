package dev.postrider.idempotency;

import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Lets one thread of this node ask for a command at a time. The others share its answer, or wait for it as long as they may and there
 * is room, or are told that it is in progress: five hundred callers of one key need one connection. Thread-safe.
 */
final class Flights {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final Claims claims;
    private final CommandStore store;
    private final Answers answers;
    private final int seatsPerFlight;
    private final Semaphore seats;
    private final EndedCommands ended;
    private final Map<Flight.Route, Flight> flights = new ConcurrentHashMap<>();

    Flights(Claims claims, CommandStore store, Answers answers, CommandOptions options) {
        this.claims = claims;
        this.store = store;
        this.answers = answers;
        this.seatsPerFlight = options.waitersPerKey();
        this.seats = new Semaphore(options.waitersPerNode());
        this.ended = new EndedCommands(options.cacheBytes());
    }

    <R, X extends Exception> CommandResult<R> once(Request<R> request, boolean uncertainIfLost, Ran.Mode<R, X> mode)
            throws X {
        Flight.Route route = new Flight.Route(request.id(), request.print());
        long deadline =
                System.nanoTime() + request.command().options().waitForResult().toNanos();
        while (true) {
            Optional<CommandRecord> known = ended.find(route);
            if (known.isPresent()) {
                return answers.replay(request, known.get());
            }
            Flight own = new Flight(route, seatsPerFlight);
            Flight other = flights.putIfAbsent(route, own);
            if (other == null) {
                return fly(own, request, deadline, uncertainIfLost, mode);
            }
            Optional<CommandResult<R>> shared = share(other, request, deadline);
            if (shared.isPresent()) {
                return shared.get();
            }
        }
    }

    private <R, X extends Exception> CommandResult<R> fly(
            Flight flight, Request<R> request, long deadline, boolean uncertainIfLost, Ran.Mode<R, X> mode) throws X {
        Optional<CommandRecord> end = Optional.empty();
        try {
            long asked = System.nanoTime();
            Verdict verdict = claims.claim(request, uncertainIfLost);
            flight.verdict().complete(verdict);
            while (verdict instanceof Verdict.Busy && isFree(request, deadline)) {
                asked = System.nanoTime();
                verdict = claims.claim(request, uncertainIfLost);
            }
            if (verdict instanceof Verdict.Mine mine) {
                Ran<R> ran = mode.run(request, mine.row());
                end = ran.row();
                remember(flight, end, asked);
                return ran.result();
            }
            end = verdict instanceof Verdict.Ended over ? Optional.of(over.row()) : Optional.empty();
            remember(flight, end, asked);
            return answers.of(request, verdict);
        } catch (Throwable e) {
            flight.verdict().completeExceptionally(e);
            throw e;
        } finally {
            flights.remove(flight.route(), flight);
            flight.end().complete(end);
        }
    }

    private void remember(Flight flight, Optional<CommandRecord> end, long asked) {
        end.ifPresent(row -> ended.add(flight.route(), row, asked));
    }

    /** Waits until nobody is at it any more, also on another node; false when the time is up. The pauses grow. */
    private boolean isFree(Request<?> request, long deadline) {
        long pause = FIRST_PAUSE.toNanos();
        while (true) {
            long left = deadline - System.nanoTime();
            if (left <= 0 || !paused(Math.min(pause, left))) {
                return false;
            }
            if (store.find(request.id()).filter(CommandRecord::isLeased).isEmpty()) {
                return true;
            }
            pause = Math.min(pause * 2, LONGEST_PAUSE.toNanos());
        }
    }

    /** False when this thread was interrupted, and should not wait any longer. */
    private static boolean paused(long nanos) {
        try {
            CountDownLatch never = new CountDownLatch(1);
            return !never.await(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Empty when the one who flew has nothing to share: then it is somebody else's turn. */
    private <R> Optional<CommandResult<R>> share(Flight flight, Request<R> request, long deadline) {
        Verdict verdict;
        try {
            verdict = flight.verdict().get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(answers.of(request, new Verdict.Busy(null, Duration.ZERO)));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            return Optional.empty();
        }
        if (!(verdict instanceof Verdict.Mine) && !(verdict instanceof Verdict.Busy)) {
            return Optional.of(answers.of(request, verdict));
        }
        return awaitEnd(flight, request, deadline, verdict);
    }

    private <R> Optional<CommandResult<R>> awaitEnd(Flight flight, Request<R> request, long deadline, Verdict verdict) {
        long left = deadline - System.nanoTime();
        if ((left <= 0 && !flight.end().isDone()) || !seats.tryAcquire()) {
            return Optional.of(answers.of(request, verdict));
        }
        try {
            if (!flight.seats().tryAcquire()) {
                return Optional.of(answers.of(request, verdict));
            }
            try {
                return end(flight.end(), Math.max(left, 0)).map(row -> answers.replay(request, row));
            } finally {
                flight.seats().release();
            }
        } catch (TimeoutException e) {
            return Optional.of(answers.of(request, verdict));
        } finally {
            seats.release();
        }
    }

    private static Optional<CommandRecord> end(CompletableFuture<Optional<CommandRecord>> end, long nanos)
            throws TimeoutException {
        try {
            return end.get(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TimeoutException();
        } catch (ExecutionException e) {
            throw new AssertionError("an end is never a failure", e);
        }
    }
}
