package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.OrderingKey;
import dev.postrider.store.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
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
 * Outcomes of lanes, in the steps they are written in. Each step commits by itself, so their order is part of the protocol: a
 * process that dies between two of them must leave every key so that its messages come in order.
 *
 * <ol>
 *   <li>what leaves the order: a key is held before anything waits behind its head;
 *   <li>what joins a held key: it has joined before the hold can end;
 *   <li>what was delivered, in order and then in held keys, where the next one becomes the head;
 *   <li>what was tried in held keys without success, after what was before it is gone.
 * </ol>
 *
 * <p>What was sent without an answer, in a lane that an operator has changed since, is only written where it cannot meet what the operator
 * did. Of a held key it could, and is left: the message is tried again if it still waits.
 */
final class LaneOutcomes {

    /** Statements for a part of the outcomes. */
    @FunctionalInterface
    interface Write {
        LaneStatements.Written run(Connection connection, LaneStatements statements) throws SQLException;
    }

    /**
     * A part of the outcomes, and how it is written.
     *
     * @param states which rows it changes
     */
    record Step(List<Outcome> part, Write write, List<String> states) {}

    /** What was delivered is removed, whatever was made of it meanwhile. */
    private static final List<String> ANY_STATE = List.of("PENDING", "SCHEDULED", "RETRY", "BLOCKED", "PARKED", "DEAD");

    private final List<? extends Outcome> outcomes;
    private final LaneCursors cursors;
    private final JdbcOptions options;
    private final Unanswered unanswered;
    private final Map<Long, Boolean> keyHeld = new HashMap<>();
    private final Set<Long> gone = new HashSet<>();
    private final Set<Long> locked = new HashSet<>();

    LaneOutcomes(List<? extends Outcome> outcomes, LaneCursors cursors, JdbcOptions options, Unanswered unanswered) {
        this.outcomes = outcomes;
        this.cursors = cursors;
        this.options = options;
        this.unanswered = unanswered;
    }

    void written(LaneStatements.Written written) {
        keyHeld.putAll(written.keyHeld());
    }

    /** The row is not there any more, or not in a state that the outcome is for. */
    void gone(Outcome outcome) {
        gone.add(outcome.claim().seq());
    }

    /** Somebody has locked the row. What comes after it in its key has to wait for it. */
    void locked(LaneCursor lane, Outcome outcome) {
        locked.add(outcome.claim().seq());
        lane.locked(outcome.claim().seq(), OrderingKey.of(outcome.claim().message()));
    }

    /** Whether the outcome is to be written again later: it met a locked row, or has to wait for one that did. */
    boolean isLocked(LaneCursor lane, Outcome outcome) {
        long seq = outcome.claim().seq();
        boolean behind = lane.isBehindLocked(seq, OrderingKey.of(outcome.claim().message()));
        return locked.contains(seq) || (behind && !keyHeld.containsKey(seq) && !gone.contains(seq));
    }

    /** What the step did not meet. */
    List<Outcome> unmet(Step step) {
        return step.part().stream()
                .filter(outcome -> !keyHeld.containsKey(outcome.claim().seq()))
                .toList();
    }

    /** Null when the row was not met. */
    @Nullable
    Boolean keyHeld(Claim claim) {
        return keyHeld.get(claim.seq());
    }

    List<? extends Outcome> writtenSoFar(List<? extends Outcome> all) {
        return all.stream()
                .filter(outcome -> keyHeld.containsKey(outcome.claim().seq()))
                .toList();
    }

    private boolean isOpen(LaneCursor lane, Outcome outcome) {
        long seq = outcome.claim().seq();
        if (keyHeld.containsKey(seq) || gone.contains(seq) || locked.contains(seq)) {
            return false;
        }
        return !lane.isBehindLocked(seq, OrderingKey.of(outcome.claim().message()));
    }

    /** What is left to write, in the order in which it must be written. */
    List<Step> steps() {
        Part leaving = new Part();
        Part joining = new Part();
        Part delivered = new Part();
        Part deliveredWaiting = new Part();
        Part outOfKey = new Part();
        Part failedAgain = new Part();
        for (Outcome outcome : outcomes) {
            LaneCursor lane = cursors.get(outcome.claim().lease().token());
            if (lane == null || outcome instanceof Outcome.Released || !isOpen(lane, outcome)) {
                continue;
            }
            boolean waiting = lane.isInHeldKey(outcome.claim().seq());
            if (outcome instanceof Outcome.Delivered) {
                (waiting ? deliveredWaiting : delivered).add(lane, outcome);
            } else if (outcome instanceof Outcome.Blocked) {
                joining.add(lane, outcome);
            } else if (!waiting) {
                leaving.add(lane, outcome);
            } else if (!unanswered.isInDoubt(outcome, lane.revision())) {
                boolean stays = outcome instanceof Outcome.Retry || outcome instanceof Outcome.Parked;
                (stays ? failedAgain : outOfKey).add(lane, outcome);
            }
        }
        List<Step> steps = new ArrayList<>();
        leaving.moveTo(steps, LaneStatements.Leaving.THE_ORDER);
        joining.addTo(
                steps, List.of("PENDING"), (connection, sql) -> sql.block(connection, joining.lanes, joining.rows()));
        delivered.acknowledgeTo(steps, false);
        deliveredWaiting.acknowledgeTo(steps, true);
        outOfKey.moveTo(steps, LaneStatements.Leaving.THEIR_KEY);
        failedAgain.moveTo(steps, LaneStatements.Leaving.NOTHING);
        return steps;
    }

    private final class Part {

        final Set<LaneCursor> lanes = new LinkedHashSet<>();
        private final List<Outcome> part = new ArrayList<>();

        void add(LaneCursor lane, Outcome outcome) {
            lanes.add(lane);
            part.add(outcome);
        }

        void addTo(List<Step> steps, List<String> states, Write write) {
            if (!part.isEmpty()) {
                steps.add(new Step(part, write, states));
            }
        }

        void moveTo(List<Step> steps, LaneStatements.Leaving leaving) {
            addTo(steps, leaving.states(), (connection, sql) -> sql.move(connection, lanes, moves(), leaving));
        }

        void acknowledgeTo(List<Step> steps, boolean waiting) {
            addTo(
                    steps,
                    ANY_STATE,
                    (connection, sql) -> sql.acknowledge(connection, lanes, rows(), waiting, options.archive()));
        }

        Map<Long, UUID> rows() {
            Map<Long, UUID> rows = new LinkedHashMap<>();
            part.forEach(outcome -> rows.put(
                    outcome.claim().seq(), outcome.claim().message().id().value()));
            return rows;
        }

        List<LaneStatements.Move> moves() {
            return part.stream().map(LaneOutcomes.this::move).toList();
        }
    }

    private LaneStatements.Move move(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return later(retry.claim(), "RETRY", retry.delay(), retry.error());
        }
        if (outcome instanceof Outcome.Skipped skipped) {
            return later(skipped.claim(), "SCHEDULED", skipped.delay(), skipped.error());
        }
        if (outcome instanceof Outcome.Parked parked) {
            return ended(parked.claim(), "PARKED", parked.reason(), parked.error());
        }
        if (outcome instanceof Outcome.Buried buried) {
            return ended(buried.claim(), "DEAD", buried.reason(), buried.error());
        }
        throw new IllegalArgumentException("not an outcome that moves a message: " + outcome);
    }

    private LaneStatements.Move later(Claim claim, String state, Duration delay, String error) {
        String text = ErrorText.clean(error, options.errorLimit());
        return new LaneStatements.Move(
                claim.seq(), claim.message().id().value(), state, claim.attempt(), delay, text, null, null);
    }

    private LaneStatements.Move ended(Claim claim, String state, DeadReason reason, String error) {
        String text = ErrorText.clean(error, options.errorLimit());
        return new LaneStatements.Move(
                claim.seq(),
                claim.message().id().value(),
                state,
                claim.attempt(),
                null,
                text,
                reason.name(),
                ErrorText.fingerprint(reason.name(), text));
    }

    /** A row that makes no message, and so has neither a claim nor an outcome. */
    static LaneStatements.Move unreadable(LaneStatements.LaneRow found, UUID id, int errorLimit) {
        String reason = DeadReason.UNREADABLE.name();
        String text = ErrorText.clean(String.valueOf(found.row().problem()), errorLimit);
        return new LaneStatements.Move(
                found.row().seq(),
                id,
                "DEAD",
                found.row().attempts(),
                null,
                text,
                reason,
                ErrorText.fingerprint(reason, text));
    }
}
