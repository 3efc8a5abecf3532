package dev.postrider.idempotency;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.store.CommandClaim;
import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Gets hold of commands: insert first, and if there is a row already, decide by it, in this order: the key's time, the request, the
 * state, the lease. Whatever is decided is done by a statement that holds only if the row is still as it was. Thread-safe.
 */
final class Claims {

    /** How often a row may change between looking at it and acting on it. Each time somebody else got on. */
    private static final int RACES = 10;

    private static final int TRIES = 2;

    private final CommandStore store;
    private final Probes probes;
    private final DatabaseTime time;
    private final Supplier<UUID> ids;
    private final EventListener events;

    Claims(CommandStore store, Probes probes, DatabaseTime time, Supplier<UUID> ids, EventListener events) {
        this.store = store;
        this.probes = probes;
        this.time = time;
        this.ids = ids;
        this.events = events;
    }

    /** In a short transaction of its own. */
    Verdict claim(Request<?> request, boolean uncertainIfLost) {
        CommandClaim claim = request.claim(uncertainIfLost, ids);
        for (int attempt = 1; ; attempt++) {
            try {
                return claim(request, claim);
            } catch (StoreUnavailableException e) {
                // If the answer was lost and not the question, the row bears this claim's token, and the next look
                // finds it.
                if (attempt == TRIES) {
                    throw e;
                }
            }
        }
    }

    private Verdict claim(Request<?> request, CommandClaim claim) {
        for (int race = 0; race < RACES; race++) {
            CommandRecord row = store.claim(claim);
            time.seen(row.readAt());
            Decision decision = decide(request, claim, row);
            if (decision instanceof Say say) {
                return told(request, row, say.verdict());
            }
            if (decision == Act.TAKE) {
                Optional<CommandRecord> taken = store.take(claim, row);
                if (taken.isPresent()) {
                    return told(request, row, new Verdict.Mine(taken.get()));
                }
            } else if (decision == Act.DOUBT) {
                if (store.doubt(row)) {
                    events.on(new Event.CommandUncertain(operation(request), row.reference()));
                }
            } else {
                Optional<Verdict> verdict = probed(request, row);
                if (verdict.isPresent()) {
                    return verdict.get();
                }
            }
        }
        return new Verdict.Busy(null, Duration.ZERO);
    }

    /** In the transaction of the caller, who must not need a second connection: so nobody is probed, and nothing called uncertain. */
    Verdict claim(Request<?> request, CommandStore.Joined rows) {
        CommandClaim claim = request.claim(false, ids);
        Optional<CommandRecord> found =
                rows.claim(claim, request.command().options().joinWait());
        if (found.isEmpty()) {
            return new Verdict.Busy(null, Duration.ZERO);
        }
        CommandRecord row = found.get();
        time.seen(row.readAt());
        Decision decision = decide(request, claim, row);
        if (decision == Act.TAKE) {
            return rows.take(claim, row)
                    .map(taken -> told(request, row, new Verdict.Mine(taken)))
                    .orElse(new Verdict.Busy(row.reference(), Duration.ZERO));
        }
        return told(request, row, decision instanceof Say say ? say.verdict() : new Verdict.Unknown(row.reference()));
    }

    /** What to do about a row. */
    private sealed interface Decision permits Say, Act {}

    private record Say(Verdict verdict) implements Decision {}

    private enum Act implements Decision {
        TAKE,
        DOUBT,
        PROBE
    }

    private static Decision decide(Request<?> request, CommandClaim claim, CommandRecord row) {
        if (row.state() == CommandRecord.State.IN_PROGRESS
                && row.owner().token().equals(claim.owner())) {
            return new Say(new Verdict.Mine(row));
        }
        if (row.isOver()) {
            return Act.TAKE;
        }
        if (!request.isSameAs(row.print())) {
            return new Say(new Verdict.Other());
        }
        return switch (row.state()) {
            case COMPLETED -> new Say(new Verdict.Ended(row));
            case FAILED -> Act.TAKE;
            case UNCERTAIN -> Act.PROBE;
            case IN_PROGRESS -> inProgress(request.command().options(), row);
        };
    }

    private static Decision inProgress(Command.Options options, CommandRecord row) {
        if (row.isLeased()) {
            return new Say(new Verdict.Busy(row.reference(), row.leaseLeft()));
        }
        boolean tooOften = options.maxAttempts() > 0 && row.attempts() >= options.maxAttempts();
        return row.uncertainIfLost() || tooOften ? Act.DOUBT : Act.TAKE;
    }

    /** Asks the other system, if there is somebody to ask. Empty when the row was settled, and has to be looked at again. */
    private <R> Optional<Verdict> probed(Request<R> request, CommandRecord row) {
        OutcomeProbe<R> probe = request.command().probe();
        Probes.Answer answer = probe == null ? Probes.Answer.UNKNOWN : probes.ask(probe, request, row);
        return switch (answer) {
            case SETTLED -> Optional.empty();
            case UNKNOWN -> Optional.of(new Verdict.Unknown(row.reference()));
            case PENDING -> Optional.of(new Verdict.Busy(row.reference(), Duration.ZERO));
        };
    }

    private Verdict told(Request<?> request, CommandRecord row, Verdict verdict) {
        if (verdict instanceof Verdict.Mine mine) {
            boolean lost = row.state() == CommandRecord.State.IN_PROGRESS
                    && !row.owner().equals(mine.row().owner());
            events.on(
                    lost
                            ? new Event.CommandTakenOver(
                                    operation(request),
                                    mine.row().reference(),
                                    mine.row().attempts())
                            : new Event.CommandClaimed(
                                    operation(request),
                                    mine.row().reference(),
                                    mine.row().attempts()));
        }
        return verdict;
    }

    private static String operation(Request<?> request) {
        return request.command().identity().operation();
    }
}
