package dev.postrider.idempotency;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Lets one thread of this node execute a command at a time. Concurrent callers share its result, wait for it within
 * their time limit and the limit of waiting threads, or get the result that it is in progress. Five hundred callers of
 * one key need one connection. Thread-safe.
 */
final class SingleFlight {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(20);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final CommandClaimer claimer;
    private final CommandStore store;
    private final CommandReplies replies;
    private final int seatsPerFlight;
    private final Semaphore permits;
    private final CompletedCommandCache ended;
    private final Platform platform;
    private final Map<SharedCall.CallKey, SharedCall> calls = new ConcurrentHashMap<>();

    SingleFlight(
            CommandClaimer claimer,
            CommandStore store,
            CommandReplies replies,
            CommandOptions options,
            Platform platform) {
        this.claimer = claimer;
        this.store = store;
        this.replies = replies;
        this.seatsPerFlight = options.waitersPerKey();
        this.permits = new Semaphore(options.waitersPerNode());
        this.ended = new CompletedCommandCache(options.cacheBytes(), platform::nanos);
        this.platform = platform;
    }

    <R, X extends Exception> CommandResult<R> once(
            CommandRequest<R> request, boolean uncertainIfLost, RunResult.Mode<R, X> mode) throws X {
        SharedCall.CallKey route = new SharedCall.CallKey(request.id(), request.print());
        long deadline =
                platform.nanos() + request.command().options().waitForResult().toNanos();
        while (true) {
            Optional<CommandRecord> known = ended.find(route);
            if (known.isPresent()) {
                return replies.replay(request, known.get());
            }
            SharedCall own = new SharedCall(route, seatsPerFlight, platform);
            SharedCall other = calls.putIfAbsent(route, own);
            if (other == null) {
                return execute(own, request, deadline, uncertainIfLost, mode);
            }
            Optional<CommandResult<R>> shared = share(other, request, deadline);
            if (shared.isPresent()) {
                return shared.get();
            }
        }
    }

    private <R, X extends Exception> CommandResult<R> execute(
            SharedCall call,
            CommandRequest<R> request,
            long deadline,
            boolean uncertainIfLost,
            RunResult.Mode<R, X> mode)
            throws X {
        Optional<CommandRecord> end = Optional.empty();
        try {
            long asked = platform.nanos();
            CommandClaimResult claimResult = claimer.claim(request, uncertainIfLost);
            call.publish(claimResult);
            while (claimResult instanceof CommandClaimResult.InProgress && isFree(request, deadline)) {
                asked = platform.nanos();
                claimResult = claimer.claim(request, uncertainIfLost);
            }
            if (claimResult instanceof CommandClaimResult.Claimed claimed) {
                RunResult<R> ran = mode.run(request, claimed);
                end = ran.row();
                remember(call, end, asked);
                return ran.result();
            }
            end = claimResult instanceof CommandClaimResult.Completed over ? Optional.of(over.row()) : Optional.empty();
            remember(call, end, asked);
            return replies.of(request, claimResult);
        } catch (Throwable e) {
            call.fail(e);
            throw e;
        } finally {
            calls.remove(call.route(), call);
            call.end(end);
        }
    }

    private void remember(SharedCall call, Optional<CommandRecord> end, long asked) {
        end.ifPresent(row -> ended.add(call.route(), row, asked));
    }

    /**
     * Waits until the command is no longer in progress, also on another node; false when the time is up. The pauses
     * grow.
     */
    private boolean isFree(CommandRequest<?> request, long deadline) {
        long pause = FIRST_PAUSE.toNanos();
        while (true) {
            long left = deadline - platform.nanos();
            if (left <= 0 || !paused(Math.min(pause, left))) {
                return false;
            }
            if (store.find(request.id()).filter(CommandRecord::isLeased).isEmpty()) {
                return true;
            }
            pause = Math.min(pause * 2, LONGEST_PAUSE.toNanos());
        }
    }

    /** Pauses. False when this thread was interrupted and should stop waiting. */
    private boolean paused(long nanos) {
        try {
            return !platform.latch().await(nanos); // no thread opens this latch
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Shares the result of another thread. Empty when that thread has nothing to share: the caller then executes the
     * command or joins the next call.
     */
    private <R> Optional<CommandResult<R>> share(SharedCall call, CommandRequest<R> request, long deadline) {
        CommandClaimResult claimResult = new CommandClaimResult.InProgress(null, Duration.ZERO);
        try {
            Optional<CommandClaimResult> published = call.awaitClaimResult();
            if (published.isEmpty()) {
                return Optional.empty();
            }
            claimResult = published.get();
            return claimResult instanceof CommandClaimResult.Claimed
                            || claimResult instanceof CommandClaimResult.InProgress
                    ? awaitEnd(call, request, deadline, claimResult)
                    : Optional.of(replies.of(request, claimResult));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(replies.of(request, claimResult));
        }
    }

    private <R> Optional<CommandResult<R>> awaitEnd(
            SharedCall call, CommandRequest<R> request, long deadline, CommandClaimResult claimResult)
            throws InterruptedException {
        long left = Math.max(deadline - platform.nanos(), 0);
        if ((left == 0 && !call.awaitEnd(0)) || !permits.tryAcquire()) {
            return Optional.of(replies.of(request, claimResult));
        }
        try {
            if (!call.permits().tryAcquire()) {
                return Optional.of(replies.of(request, claimResult));
            }
            try {
                return call.awaitEnd(left)
                        ? call.end().map(row -> replies.replay(request, row))
                        : Optional.of(replies.of(request, claimResult));
            } finally {
                call.permits().release();
            }
        } finally {
            permits.release();
        }
    }
}
