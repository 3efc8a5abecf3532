package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
    interface Step {
        LaneStatements.Written write(Connection connection, LaneStatements statements) throws SQLException;
    }

    private final List<? extends Outcome> outcomes;
    private final LaneCursors cursors;
    private final JdbcOptions options;
    private final Unanswered unanswered;
    private final Map<Long, Boolean> keyHeld;

    LaneOutcomes(List<? extends Outcome> outcomes, LaneCursors cursors, JdbcOptions options, Unanswered unanswered) {
        this(outcomes, cursors, options, unanswered, new HashMap<>());
    }

    private LaneOutcomes(
            List<? extends Outcome> outcomes,
            LaneCursors cursors,
            JdbcOptions options,
            Unanswered unanswered,
            Map<Long, Boolean> keyHeld) {
        this.outcomes = outcomes;
        this.cursors = cursors;
        this.options = options;
        this.unanswered = unanswered;
        this.keyHeld = keyHeld;
    }

    /** What was not written yet, with what was. */
    LaneOutcomes unwritten() {
        List<? extends Outcome> left = outcomes.stream()
                .filter(outcome -> !keyHeld.containsKey(outcome.claim().seq()))
                .toList();
        return new LaneOutcomes(left, cursors, options, unanswered, keyHeld);
    }

    void written(LaneStatements.Written written) {
        keyHeld.putAll(written.keyHeld());
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

    List<LaneCursor> lanesWithUnwritten() {
        Set<LaneCursor> lanes = new LinkedHashSet<>();
        for (Outcome outcome : outcomes) {
            LaneCursor lane = cursors.get(outcome.claim().lease().token());
            if (lane != null
                    && !(outcome instanceof Outcome.Released)
                    && !keyHeld.containsKey(outcome.claim().seq())) {
                lanes.add(lane);
            }
        }
        return List.copyOf(lanes);
    }

    List<Step> steps() {
        Part leaving = new Part();
        Part joining = new Part();
        Part delivered = new Part();
        Part deliveredWaiting = new Part();
        Part outOfKey = new Part();
        Part failedAgain = new Part();
        for (Outcome outcome : outcomes) {
            LaneCursor lane = cursors.get(outcome.claim().lease().token());
            if (lane == null || outcome instanceof Outcome.Released) {
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
        leaving.addTo(
                steps,
                (connection, sql) ->
                        sql.move(connection, leaving.lanes, leaving.moves(), LaneStatements.Leaving.THE_ORDER));
        joining.addTo(steps, (connection, sql) -> sql.block(connection, joining.lanes, joining.rows()));
        delivered.addTo(
                steps,
                (connection, sql) ->
                        sql.acknowledge(connection, delivered.lanes, delivered.rows(), false, options.archive()));
        deliveredWaiting.addTo(
                steps,
                (connection, sql) -> sql.acknowledge(
                        connection, deliveredWaiting.lanes, deliveredWaiting.rows(), true, options.archive()));
        outOfKey.addTo(
                steps,
                (connection, sql) ->
                        sql.move(connection, outOfKey.lanes, outOfKey.moves(), LaneStatements.Leaving.THEIR_KEY));
        failedAgain.addTo(
                steps,
                (connection, sql) ->
                        sql.move(connection, failedAgain.lanes, failedAgain.moves(), LaneStatements.Leaving.NOTHING));
        return steps;
    }

    private final class Part {

        final Set<LaneCursor> lanes = new LinkedHashSet<>();
        private final List<Outcome> part = new ArrayList<>();

        void add(LaneCursor lane, Outcome outcome) {
            lanes.add(lane);
            part.add(outcome);
        }

        void addTo(List<Step> steps, Step step) {
            if (!part.isEmpty()) {
                steps.add(step);
            }
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
