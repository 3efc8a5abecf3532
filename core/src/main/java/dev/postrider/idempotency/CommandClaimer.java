package dev.postrider.idempotency;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import java.time.Duration;
import java.util.Optional;

/**
 * Claims commands. The first statement inserts the row. If the row exists, the claimer decides by these, in this order:
 * the retention of the key, the fingerprint, the state, the lease. Each statement that changes the row has the
 * condition that the row is unchanged since it was read. Thread-safe.
 */
final class CommandClaimer {

    /**
     * The limit for repeated reads when the row changes between the read and the update. In each of these races another
     * caller made progress.
     */
    private static final int RACES = 10;

    private static final int TRIES = 2;

    private final CommandStore store;
    private final ProbeRunner probes;
    private final DatabaseTime time;
    private final Platform platform;
    private final EventListener events;

    CommandClaimer(CommandStore store, ProbeRunner probes, DatabaseTime time, Platform platform, EventListener events) {
        this.store = store;
        this.probes = probes;
        this.time = time;
        this.platform = platform;
        this.events = events;
    }

    /** Claims the command in a short transaction of its own. */
    CommandClaimResult claim(CommandRequest<?> request, boolean uncertainIfLost) {
        CommandClaim claim = request.claim(uncertainIfLost, platform::id);
        long asked = platform.nanos();
        for (int attempt = 1; ; attempt++) {
            try {
                return claim(request, claim, asked);
            } catch (StoreUnavailableException e) {
                // If the statement ran and only its response was lost, the row has the token of this claim. The second
                // attempt finds it.
                if (attempt == TRIES) {
                    throw e;
                }
            }
        }
    }

    /** @param firstAsked before the first statement with this claim, which may have made the lease without a response */
    private CommandClaimResult claim(CommandRequest<?> request, CommandClaim claim, long firstAsked) {
        long asked = firstAsked;
        for (int race = 0; race < RACES; race++) {
            CommandRecord row = store.claim(claim);
            time.seen(row.readAt());
            Decision decision = decide(request, claim, row, asked);
            if (decision instanceof Answer answer) {
                return reported(request, row, answer.claimResult());
            }
            if (decision == Act.TAKE) {
                Optional<CommandRecord> taken = store.take(claim, row);
                if (taken.isPresent()) {
                    return reported(request, row, new CommandClaimResult.Claimed(taken.get(), asked));
                }
            } else if (decision == Act.MARK_UNCERTAIN) {
                if (store.markUncertain(row)) {
                    events.on(new Event.CommandUncertain(operation(request), row.reference()));
                }
            } else {
                Optional<CommandClaimResult> claimResult = probed(request, row);
                if (claimResult.isPresent()) {
                    return claimResult.get();
                }
                asked = platform.nanos(); // a probe may take longer than a lease
            }
        }
        return new CommandClaimResult.InProgress(null, Duration.ZERO);
    }

    /**
     * Claims the command in the transaction of the caller. This method must not need a second connection. Therefore it
     * runs no probe and does not write the state uncertain. The claim is committed with the outcome or not at all,
     * unless the work ends the transaction: then a part of the work is committed, so the command is uncertain.
     */
    CommandClaimResult claim(CommandRequest<?> request, CommandStore.Joined rows) {
        CommandClaim claim = request.claim(true, platform::id);
        long asked = platform.nanos();
        Optional<CommandRecord> found =
                rows.claim(claim, request.command().options().joinWait());
        if (found.isEmpty()) {
            return new CommandClaimResult.InProgress(null, Duration.ZERO);
        }
        CommandRecord row = found.get();
        time.seen(row.readAt());
        Decision decision = decide(request, claim, row, asked);
        if (decision == Act.TAKE) {
            return rows.take(claim, row)
                    .map(taken -> reported(request, row, new CommandClaimResult.Claimed(taken, asked)))
                    .orElse(new CommandClaimResult.InProgress(row.reference(), Duration.ZERO));
        }
        return reported(
                request,
                row,
                decision instanceof Answer answer
                        ? answer.claimResult()
                        : new CommandClaimResult.Uncertain(row.reference()));
    }

    /** The next step for a row that was read. */
    private sealed interface Decision permits Answer, Act {}

    private record Answer(CommandClaimResult claimResult) implements Decision {}

    private enum Act implements Decision {
        TAKE,
        MARK_UNCERTAIN,
        PROBE
    }

    private static Decision decide(CommandRequest<?> request, CommandClaim claim, CommandRecord row, long asked) {
        if (row.state() == CommandRecord.State.IN_PROGRESS
                && row.owner().token().equals(claim.owner())) {
            return new Answer(new CommandClaimResult.Claimed(row, asked));
        }
        if (row.isOver()) {
            return Act.TAKE;
        }
        if (!request.isSameAs(row.print())) {
            return new Answer(new CommandClaimResult.Mismatch());
        }
        return switch (row.state()) {
            case COMPLETED -> new Answer(new CommandClaimResult.Completed(row));
            case FAILED -> Act.TAKE;
            case UNCERTAIN -> Act.PROBE;
            case IN_PROGRESS -> inProgress(request.command().options(), row);
        };
    }

    private static Decision inProgress(Command.Options options, CommandRecord row) {
        if (row.isLeased()) {
            return new Answer(new CommandClaimResult.InProgress(row.reference(), row.leaseLeft()));
        }
        boolean tooOften = options.maxAttempts() > 0 && row.attempts() >= options.maxAttempts();
        return row.uncertainIfLost() || tooOften ? Act.MARK_UNCERTAIN : Act.TAKE;
    }

    /**
     * Runs the probe, if the command has one. Empty when the probe resolved the row: the caller reads the row again.
     */
    private <R> Optional<CommandClaimResult> probed(CommandRequest<R> request, CommandRecord row) {
        OutcomeProbe<R> probe = request.command().probe();
        ProbeRunner.ProbeAnswer answer =
                probe == null ? ProbeRunner.ProbeAnswer.UNKNOWN : probes.ask(probe, request, row);
        return switch (answer) {
            case SETTLED -> Optional.empty();
            case UNKNOWN -> Optional.of(new CommandClaimResult.Uncertain(row.reference()));
            case PENDING -> Optional.of(new CommandClaimResult.InProgress(row.reference(), Duration.ZERO));
        };
    }

    private CommandClaimResult reported(CommandRequest<?> request, CommandRecord row, CommandClaimResult claimResult) {
        if (claimResult instanceof CommandClaimResult.Claimed claimed) {
            boolean lost = row.state() == CommandRecord.State.IN_PROGRESS
                    && !row.owner().equals(claimed.row().owner());
            events.on(
                    lost
                            ? new Event.CommandTakenOver(
                                    operation(request),
                                    claimed.row().reference(),
                                    claimed.row().attempts())
                            : new Event.CommandClaimed(
                                    operation(request),
                                    claimed.row().reference(),
                                    claimed.row().attempts()));
        }
        return claimResult;
    }

    private static String operation(CommandRequest<?> request) {
        return request.command().identity().operation();
    }
}
