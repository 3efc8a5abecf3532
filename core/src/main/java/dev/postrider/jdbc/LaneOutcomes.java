package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.OrderingKey;
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
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
 *   <li>Delivered messages, first those in order, then those of blocked keys, where the next message becomes the head.
 *   <li>Failed messages of blocked keys, after the earlier messages of the key are gone.
 * </ol>
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
    record Step(List<LaneOutcome> part, Write write, Set<RowState> states) {}

    /** A delivered message is removed, also if an operator has changed its state meanwhile. */
    private static final Set<RowState> ANY_STATE = EnumSet.complementOf(EnumSet.of(RowState.PROCESSING));

    private final List<? extends LaneOutcome> outcomes;
    private final LaneCursors cursors;
    private final TableOptions options;
    private final InDoubtWrites unanswered;
    private final Set<Long> all = new HashSet<>();
    private final Map<Long, Boolean> keyBlocked = new HashMap<>();
    private final Set<Long> gone = new HashSet<>();
    private final Set<Long> locked = new HashSet<>();

    LaneOutcomes(
            List<? extends LaneOutcome> outcomes, LaneCursors cursors, TableOptions options, InDoubtWrites unanswered) {
        this.outcomes = outcomes;
        outcomes.forEach(outcome -> all.add(outcome.claim().seq()));
        this.cursors = cursors;
        this.options = options;
        this.unanswered = unanswered;
    }

    void written(LaneOutcomeStatements.Written written) {
        keyBlocked.putAll(written.keyBlocked());
    }

    /** Notes that the row no longer exists, or is not in a state that the outcome applies to. */
    void gone(LaneOutcome outcome) {
        gone.add(outcome.claim().seq());
    }

    /** Notes that another session has locked the row. Later outcomes of its key must wait for this one. */
    void locked(LaneCursor lane, LaneOutcome outcome) {
        locked.add(outcome.claim().seq());
        lane.defer(outcome.claim().seq(), OrderingKey.of(outcome.claim().message()));
    }

    /** Whether the outcome must be written later: its row is locked, or an earlier outcome of its key is written later. */
    boolean isDeferred(LaneCursor lane, LaneOutcome outcome) {
        long seq = outcome.claim().seq();
        return locked.contains(seq) || (!keyBlocked.containsKey(seq) && !gone.contains(seq) && isBehind(lane, outcome));
    }

    private boolean isBehind(LaneCursor lane, LaneOutcome outcome) {
        return lane.isBehindDeferred(
                outcome.claim().seq(),
                OrderingKey.of(outcome.claim().message()),
                earlier -> all.contains(earlier) && !locked.contains(earlier));
    }

    /** Returns the outcomes of the step whose rows the statement did not match. */
    List<LaneOutcome> unmet(Step step) {
        return step.part().stream()
                .filter(outcome -> !keyBlocked.containsKey(outcome.claim().seq()))
                .toList();
    }

    /** Whether the key is blocked after the write; null if no statement matched the row. */
    @Nullable
    Boolean keyBlocked(Claim claim) {
        return keyBlocked.get(claim.seq());
    }

    List<? extends LaneOutcome> writtenSoFar(List<? extends LaneOutcome> all) {
        return all.stream()
                .filter(outcome -> keyBlocked.containsKey(outcome.claim().seq()))
                .toList();
    }

    private boolean isOpen(LaneCursor lane, LaneOutcome outcome) {
        long seq = outcome.claim().seq();
        if (keyBlocked.containsKey(seq) || gone.contains(seq) || locked.contains(seq)) {
            return false;
        }
        return !isBehind(lane, outcome);
    }

    /** Returns the remaining steps, in the order in which they must be written. */
    List<Step> steps() {
        Part leaving = new Part();
        Part joining = new Part();
        Part delivered = new Part();
        Part deliveredWaiting = new Part();
        Part outOfKey = new Part();
        Part failedAgain = new Part();
        for (LaneOutcome outcome : outcomes) {
            LaneCursor lane = cursors.get(outcome.claim().lease().token());
            if (lane == null || outcome instanceof Outcome.Released || !isOpen(lane, outcome)) {
                continue;
            }
            boolean waiting = lane.isInBlockedKey(outcome.claim().seq());
            if (outcome instanceof Outcome.Delivered) {
                (waiting ? deliveredWaiting : delivered).add(lane, outcome);
            } else if (outcome instanceof LaneOutcome.Blocked) {
                joining.add(lane, outcome);
            } else if (!waiting) {
                leaving.add(lane, outcome);
            } else if (!unanswered.isInDoubt(outcome, lane.revision())) {
                boolean stays = outcome instanceof Outcome.Retry || outcome instanceof LaneOutcome.Parked;
                (stays ? failedAgain : outOfKey).add(lane, outcome);
            }
        }
        List<Step> steps = new ArrayList<>();
        leaving.moveTo(steps, LaneOutcomeStatements.Leaving.THE_ORDER);
        joining.addTo(
                steps,
                Set.of(RowState.PENDING),
                (connection, statements) -> statements.block(connection, joining.lanes, joining.joining()));
        delivered.acknowledgeTo(steps, false);
        deliveredWaiting.acknowledgeTo(steps, true);
        outOfKey.moveTo(steps, LaneOutcomeStatements.Leaving.THEIR_KEY);
        failedAgain.moveTo(steps, LaneOutcomeStatements.Leaving.NOTHING);
        return steps;
    }

    private final class Part {

        final Set<LaneCursor> lanes = new LinkedHashSet<>();
        private final List<LaneOutcome> part = new ArrayList<>();

        void add(LaneCursor lane, LaneOutcome outcome) {
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

        void acknowledgeTo(List<Step> steps, boolean waiting) {
            addTo(
                    steps,
                    ANY_STATE,
                    (connection, statements) ->
                            statements.acknowledge(connection, lanes, rows(), waiting, options.archive()));
        }

        Map<Long, UUID> rows() {
            Map<Long, UUID> rows = new LinkedHashMap<>();
            part.forEach(outcome -> rows.put(
                    outcome.claim().seq(), outcome.claim().message().id().value()));
            return rows;
        }

        List<LaneOutcomeStatements.Joining> joining() {
            Map<Map.Entry<UUID, OrderingKey>, Integer> keys = new HashMap<>();
            List<LaneOutcomeStatements.Joining> rows = new ArrayList<>();
            for (LaneOutcome outcome : part) {
                Claim claim = outcome.claim();
                Map.Entry<UUID, OrderingKey> keyOfLane =
                        Map.entry(claim.lease().token(), OrderingKey.of(claim.message()));
                int key = keys.computeIfAbsent(keyOfLane, added -> keys.size());
                rows.add(new LaneOutcomeStatements.Joining(
                        claim.seq(), claim.message().id().value(), key));
            }
            return rows;
        }

        List<LaneOutcomeStatements.Move> moves() {
            return part.stream().map(LaneOutcomes.this::move).toList();
        }
    }

    private LaneOutcomeStatements.Move move(LaneOutcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return later(retry.claim(), RowState.RETRY, retry.delay(), retry.error());
        }
        if (outcome instanceof LaneOutcome.RetryOutOfOrder outOfOrder) {
            return later(outOfOrder.claim(), RowState.SCHEDULED, outOfOrder.delay(), outOfOrder.error());
        }
        if (outcome instanceof LaneOutcome.Parked parked) {
            return ended(parked.claim(), RowState.PARKED, parked.reason(), parked.error());
        }
        if (outcome instanceof Outcome.Buried buried) {
            return ended(buried.claim(), RowState.DEAD, buried.reason(), buried.error());
        }
        throw new IllegalArgumentException("not an outcome that moves a message: " + outcome);
    }

    private LaneOutcomeStatements.Move later(Claim claim, RowState state, Duration delay, String error) {
        String text = ErrorText.clean(error, options.errorLimit());
        return new LaneOutcomeStatements.Move(
                claim.seq(), claim.message().id().value(), state, claim.attempt(), delay, text, null, null);
    }

    private LaneOutcomeStatements.Move ended(Claim claim, RowState state, DeadReason reason, String error) {
        String text = ErrorText.clean(error, options.errorLimit());
        return new LaneOutcomeStatements.Move(
                claim.seq(),
                claim.message().id().value(),
                state,
                claim.attempt(),
                null,
                text,
                reason.name(),
                ErrorText.fingerprint(reason.name(), text));
    }

    /** Returns the move that buries an unreadable row. Such a row has no message, so it has neither a claim nor an outcome. */
    static LaneOutcomeStatements.Move unreadable(LaneReads.LaneRow found, UUID id, int errorLimit) {
        String reason = DeadReason.UNREADABLE.name();
        String text = ErrorText.clean(String.valueOf(found.row().problem()), errorLimit);
        return new LaneOutcomeStatements.Move(
                found.row().seq(),
                id,
                RowState.DEAD,
                found.row().attempts(),
                null,
                text,
                reason,
                ErrorText.fingerprint(reason, text));
    }
}
