package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The outcomes of lanes, in the steps in which they are written. Each step commits by itself, so the order of the steps is part of the
 * protocol: if a process dies between two steps, the messages of every key must still be delivered in order.
 *
 * <ol>
 *   <li>Messages that leave the order: a key is blocked before other messages are blocked behind its head.
 *   <li>Messages that join a blocked key: they join before the key can be unblocked.
 *   <li>Delivered messages, first those in order, then those of blocked keys, where the next message becomes the head. Each of the two is
 *       one step for each part of a message that the archive keeps; a key, and its whole topic, are in the same one.
 *   <li>Failed messages of blocked keys, after the earlier messages of the key are gone.
 * </ol>
 *
 * <p>Messages that the transaction of a handler has removed are in no step: the {@link LaneWriter} promotes the next message of their
 * keys after the last step.
 *
 * <p>A write of an outcome may have got no answer, and an operator may have changed the lane since. Then the outcome is written again only
 * if it cannot overwrite the change of the operator. A failure in a blocked key could overwrite it and is not written: the message is
 * attempted again if it still waits. Not thread-safe.
 */
final class LaneOutcomes {

    /** Writes a part of the outcomes. */
    @FunctionalInterface
    interface Write {
        LaneOutcomeStatements.Written run(Connection connection, LaneOutcomeStatements statements) throws SQLException;
    }

    /**
     * A part of the outcomes, and the statement that writes it.
     *
     * @param states the states of the rows that it changes
     */
    record Step(List<Progress> part, Write write, Set<RowState> states) {

        /** Returns the outcomes whose rows the statement did not match. */
        List<Progress> unmet() {
            return part.stream().filter(each -> !each.isWritten()).toList();
        }
    }

    /** An outcome, and what is known about its row. Not thread-safe. */
    static final class Progress {

        final LaneOutcome outcome;
        final Claim claim;

        /** Whether the key is blocked after the write; null as long as no statement matched the row. */
        @Nullable
        Boolean keyBlocked;

        /** Whether the row no longer exists, or is not in a state that the outcome applies to. */
        boolean gone;

        private boolean locked;

        private Progress(LaneOutcome outcome) {
            this.outcome = outcome;
            this.claim = outcome.claim();
        }

        boolean isWritten() {
            return keyBlocked != null;
        }

        /** Notes that another session has locked the row. Later outcomes of its key must wait for this one. */
        void locked(LaneCursor lane) {
            locked = true;
            lane.defer(claim);
        }

        private boolean isDone() {
            return isWritten() || gone;
        }
    }

    /** A delivered message is removed, also if an operator has changed its state meanwhile. */
    private static final Set<RowState> ANY_STATE = EnumSet.complementOf(EnumSet.of(RowState.PROCESSING));

    private final List<Progress> outcomes = new ArrayList<>();
    private final Map<Long, Progress> byNumber = new HashMap<>();
    private final LaneCursors cursors;
    private final StorageOptions options;
    private final InDoubtWrites unanswered;

    LaneOutcomes(
            List<? extends LaneOutcome> outcomes,
            LaneCursors cursors,
            StorageOptions options,
            InDoubtWrites unanswered) {
        outcomes.forEach(outcome -> this.outcomes.add(new Progress(outcome)));
        this.cursors = cursors;
        this.options = options;
        this.unanswered = unanswered;
    }

    /** Whether the transaction of a handler has decided about the message: it has removed the row, or did not find it. */
    static boolean isOfHandler(LaneOutcome outcome) {
        return outcome instanceof Outcome.Handled || outcome instanceof Outcome.Lost;
    }

    /** Whether the outcome must be written later: its row is locked, or an earlier outcome of its key is written later. */
    boolean isDeferred(LaneCursor lane, Progress outcome) {
        return outcome.locked || (!outcome.isDone() && isBehind(lane, outcome));
    }

    private boolean isOpen(LaneCursor lane, Progress outcome) {
        return !outcome.isDone() && !outcome.locked && !isBehind(lane, outcome);
    }

    private boolean isBehind(LaneCursor lane, Progress outcome) {
        return lane.isBehindDeferred(outcome.claim, this::isWrittenNow);
    }

    private boolean isWrittenNow(long seq) {
        if (byNumber.isEmpty()) { // rarely needed
            outcomes.forEach(each -> byNumber.put(each.claim.seq(), each));
        }
        Progress found = byNumber.get(seq);
        return found != null && !found.locked;
    }

    /** Returns the progress of all outcomes, in their order. */
    List<Progress> all() {
        return outcomes;
    }

    List<LaneOutcome> writtenSoFar() {
        return outcomes.stream()
                .filter(Progress::isWritten)
                .map(each -> each.outcome)
                .toList();
    }

    /** Returns the remaining steps, in the order in which they must be written. */
    List<Step> steps() {
        StepPart leaving = new StepPart();
        StepPart joining = new StepPart();
        Map<TableOptions.Archive, StepPart> delivered = new EnumMap<>(TableOptions.Archive.class);
        Map<TableOptions.Archive, StepPart> deliveredWaiting = new EnumMap<>(TableOptions.Archive.class);
        StepPart outOfKey = new StepPart();
        StepPart failedAgain = new StepPart();
        for (Progress each : outcomes) {
            LaneOutcome outcome = each.outcome;
            LaneCursor lane = cursors.get(each.claim.lease().token());
            if (lane == null || isOfHandler(outcome) || outcome instanceof Outcome.Released || !isOpen(lane, each)) {
                continue;
            }
            boolean waiting = lane.isInBlockedKey(each.claim.seq());
            if (isRemoved(outcome)) {
                (waiting ? deliveredWaiting : delivered)
                        .computeIfAbsent(archive(each), kept -> new StepPart())
                        .add(lane, each);
            } else if (outcome instanceof LaneOutcome.Blocked) {
                joining.add(lane, each);
            } else if (!waiting) {
                leaving.add(lane, each);
            } else if (!unanswered.isInDoubt(outcome, lane.revision())) {
                boolean stays = outcome instanceof Outcome.Retry || outcome instanceof LaneOutcome.Parked;
                (stays ? failedAgain : outOfKey).add(lane, each);
            }
        }
        List<Step> steps = new ArrayList<>();
        leaving.moveTo(steps, LaneOutcomeStatements.Leaving.THE_ORDER);
        joining.addTo(
                steps,
                Set.of(RowState.PENDING),
                (connection, statements) -> statements.block(connection, joining.lanes, joining.claims()));
        delivered.forEach((archive, part) -> part.acknowledgeTo(steps, false, archive));
        deliveredWaiting.forEach((archive, part) -> part.acknowledgeTo(steps, true, archive));
        outOfKey.moveTo(steps, LaneOutcomeStatements.Leaving.THEIR_KEY);
        failedAgain.moveTo(steps, LaneOutcomeStatements.Leaving.NOTHING);
        return steps;
    }

    private static boolean isRemoved(LaneOutcome outcome) {
        return outcome instanceof Outcome.Delivered
                || (outcome instanceof Outcome.Expired expired && expired.removed());
    }

    /** A message that expired is not archived: it was not delivered. */
    private TableOptions.Archive archive(Progress delivered) {
        if (delivered.outcome instanceof Outcome.Expired) {
            return TableOptions.Archive.OFF;
        }
        return options.archive(delivered.claim.message().topic());
    }

    private final class StepPart {

        final Set<LaneCursor> lanes = new LinkedHashSet<>();
        private final List<Progress> part = new ArrayList<>();

        void add(LaneCursor lane, Progress outcome) {
            lanes.add(lane);
            part.add(outcome);
        }

        void addTo(List<Step> steps, Set<RowState> states, Write write) {
            if (!part.isEmpty()) {
                steps.add(new Step(part, write, states));
            }
        }

        void moveTo(List<Step> steps, LaneOutcomeStatements.Leaving leaving) {
            addTo(
                    steps,
                    leaving.states(),
                    (connection, statements) -> statements.move(connection, lanes, moves(), leaving));
        }

        void acknowledgeTo(List<Step> steps, boolean waiting, TableOptions.Archive archive) {
            addTo(
                    steps,
                    ANY_STATE,
                    (connection, statements) -> statements.acknowledge(connection, lanes, claims(), waiting, archive));
        }

        List<Claim> claims() {
            return part.stream().map(each -> each.claim).toList();
        }

        List<LaneOutcomeStatements.Move> moves() {
            return part.stream().map(each -> move(each.outcome)).toList();
        }
    }

    private LaneOutcomeStatements.Move move(LaneOutcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return later(retry.claim(), RowState.RETRY, retry.delay(), new FailedDelivery(retry.error(), retry.took()));
        }
        if (outcome instanceof LaneOutcome.RetryOutOfOrder outOfOrder) {
            return later(
                    outOfOrder.claim(),
                    RowState.SCHEDULED,
                    outOfOrder.delay(),
                    new FailedDelivery(outOfOrder.error(), outOfOrder.took()));
        }
        if (outcome instanceof LaneOutcome.Parked parked) {
            return ended(
                    parked.claim(),
                    RowState.PARKED,
                    parked.reason(),
                    new FailedDelivery(parked.error(), parked.took()));
        }
        if (outcome instanceof Outcome.Buried buried) {
            return ended(
                    buried.claim(), RowState.DEAD, buried.reason(), new FailedDelivery(buried.error(), buried.took()));
        }
        if (outcome instanceof Outcome.Expired expired) {
            return ended(expired.claim(), RowState.DEAD, DeadReason.EXPIRED, new FailedDelivery(expired.error(), null));
        }
        throw new IllegalArgumentException("not an outcome that moves a message: " + outcome);
    }

    private record FailedDelivery(String error, @Nullable Duration took) {}

    private LaneOutcomeStatements.Move later(Claim claim, RowState state, Duration delay, FailedDelivery failed) {
        String text = ErrorText.clean(failed.error(), options.tables().errorLimit());
        String fingerprint = ErrorText.fingerprint(DeadReason.FAILED.name(), text);
        return new LaneOutcomeStatements.Move(
                claim.seq(),
                claim.message().id().value(),
                state,
                claim.attempt(),
                delay,
                text,
                null,
                null,
                AttemptHistory.entry(claim, failed.took(), text, fingerprint));
    }

    private LaneOutcomeStatements.Move ended(Claim claim, RowState state, DeadReason reason, FailedDelivery failed) {
        String text = ErrorText.clean(failed.error(), options.tables().errorLimit());
        String fingerprint = ErrorText.fingerprint(reason.name(), text);
        boolean attempted = reason != DeadReason.UNREADABLE && reason != DeadReason.EXPIRED;
        return new LaneOutcomeStatements.Move(
                claim.seq(),
                claim.message().id().value(),
                state,
                attempted ? claim.attempt() : claim.attempt() - 1,
                null,
                text,
                reason.name(),
                fingerprint,
                AttemptHistory.entry(claim, failed.took(), text, fingerprint));
    }

    /** Returns the move that buries an unreadable row without an ordering key. It has neither a claim nor an outcome. */
    static LaneOutcomeStatements.Move unreadable(LaneReads.LaneRow found, UUID id, int errorLimit) {
        String reason = DeadReason.UNREADABLE.name();
        String text = ErrorText.clean(String.valueOf(found.row().problem()), errorLimit);
        DeathRecord death = new DeathRecord(reason, text, ErrorText.fingerprint(reason, text));
        return new LaneOutcomeStatements.Move(
                found.row().seq(),
                id,
                RowState.DEAD,
                found.row().attempts(),
                null,
                death.error(),
                death.reason(),
                death.fingerprint(),
                AttemptHistory.undelivered(found.row().attempts(), "", death));
    }
}
