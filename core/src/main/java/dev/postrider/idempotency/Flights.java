package dev.postrider.idempotency;

import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

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
    private final Surroundings surroundings;
    private final Map<Flight.Route, Flight> flights = new ConcurrentHashMap<>();

    Flights(Claims claims, CommandStore store, Answers answers, CommandOptions options, Surroundings surroundings) {
        this.claims = claims;
        this.store = store;
        this.answers = answers;
        this.seatsPerFlight = options.waitersPerKey();
        this.seats = new Semaphore(options.waitersPerNode());
        this.ended = new EndedCommands(options.cacheBytes(), surroundings::nanos);
        this.surroundings = surroundings;
    }

    <R, X extends Exception> CommandResult<R> once(Request<R> request, boolean uncertainIfLost, Ran.Mode<R, X> mode)
            throws X {
        Flight.Route route = new Flight.Route(request.id(), request.print());
        long deadline = surroundings.nanos()
                + request.command().options().waitForResult().toNanos();
        while (true) {
            Optional<CommandRecord> known = ended.find(route);
            if (known.isPresent()) {
                return answers.replay(request, known.get());
            }
            Flight own = new Flight(route, seatsPerFlight, surroundings);
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
            long asked = surroundings.nanos();
            Verdict verdict = claims.claim(request, uncertainIfLost);
            flight.tell(verdict);
            while (verdict instanceof Verdict.Busy && isFree(request, deadline)) {
                asked = surroundings.nanos();
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
            flight.fail(e);
            throw e;
        } finally {
            flights.remove(flight.route(), flight);
            flight.end(end);
        }
    }

    private void remember(Flight flight, Optional<CommandRecord> end, long asked) {
        end.ifPresent(row -> ended.add(flight.route(), row, asked));
    }

    /** Waits until nobody is at it any more, also on another node; false when the time is up. The pauses grow. */
    private boolean isFree(Request<?> request, long deadline) {
        long pause = FIRST_PAUSE.toNanos();
        while (true) {
            long left = deadline - surroundings.nanos();
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
    private boolean paused(long nanos) {
        try {
            return !surroundings.gate().await(nanos); // nobody opens it
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Empty when the one who flew has nothing to share: then it is somebody else's turn. */
    private <R> Optional<CommandResult<R>> share(Flight flight, Request<R> request, long deadline) {
        Verdict verdict = new Verdict.Busy(null, Duration.ZERO);
        try {
            Optional<Verdict> told = flight.awaitVerdict();
            if (told.isEmpty()) {
                return Optional.empty();
            }
            verdict = told.get();
            return verdict instanceof Verdict.Mine || verdict instanceof Verdict.Busy
                    ? awaitEnd(flight, request, deadline, verdict)
                    : Optional.of(answers.of(request, verdict));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(answers.of(request, verdict));
        }
    }

    private <R> Optional<CommandResult<R>> awaitEnd(Flight flight, Request<R> request, long deadline, Verdict verdict)
            throws InterruptedException {
        long left = Math.max(deadline - surroundings.nanos(), 0);
        if ((left == 0 && !flight.awaitEnd(0)) || !seats.tryAcquire()) {
            return Optional.of(answers.of(request, verdict));
        }
        try {
            if (!flight.seats().tryAcquire()) {
                return Optional.of(answers.of(request, verdict));
            }
            try {
                return flight.awaitEnd(left)
                        ? flight.end().map(row -> answers.replay(request, row))
                        : Optional.of(answers.of(request, verdict));
            } finally {
                flight.seats().release();
            }
        } finally {
            seats.release();
        }
    }
}
