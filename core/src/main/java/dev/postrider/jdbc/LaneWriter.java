package dev.postrider.jdbc;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes the outcomes of lanes, again as long as an operator changes them meanwhile. Thread-safe; one at a time in each lane. */
final class LaneWriter {

    /** How often outcomes are written again because an operator changed the lane meanwhile. */
    private static final int OPERATOR_RACES = 10;

    private final LaneTable table;
    private final LaneCursors cursors;
    private final JdbcOptions options;
    private final Unanswered unanswered = new Unanswered();

    LaneWriter(LaneTable table, LaneCursors cursors, JdbcOptions options) {
        this.table = table;
        this.cursors = cursors;
        this.options = options;
    }

    List<Settlement> settle(List<? extends Outcome> outcomes) {
        Set<LaneCursor> lanes = new HashSet<>();
        for (Outcome outcome : outcomes) {
            LaneCursor cursor = cursors.get(outcome.claim().lease().token());
            if (cursor != null) {
                lanes.add(cursor);
            }
        }
        return LaneCursor.writing(lanes, () -> write(outcomes));
    }

    /** What was handled has left the table already, and only its key is to be seen to. */
    private List<Settlement> write(List<? extends Outcome> outcomes) {
        Map<Claim, Settlement> handled = new HashMap<>();
        List<Outcome> others = new ArrayList<>();
        for (Outcome outcome : outcomes) {
            if (outcome instanceof Outcome.Handled || outcome instanceof Outcome.Lost) {
                handled.put(outcome.claim(), handled(outcome));
            } else {
                others.add(outcome);
            }
        }
        List<Settlement> settlements = new ArrayList<>(outcomes.size());
        Iterator<Settlement> written = others.isEmpty()
                ? Collections.emptyIterator()
                : writeOthers(others).iterator();
        for (Outcome outcome : outcomes) {
            Settlement settlement = handled.get(outcome.claim());
            settlements.add(settlement == null ? written.next() : settlement);
        }
        return settlements;
    }

    private Settlement handled(Outcome outcome) {
        Claim claim = outcome.claim();
        LaneCursor cursor = cursors.get(claim.lease().token());
        boolean keyHeld = (cursor == null || cursor.isInHeldKey(claim.seq())) && table.goOnWithout(claim.message());
        if (outcome instanceof Outcome.Handled) {
            if (cursor != null) {
                cursor.finished(claim.seq());
            }
            return new Settlement.Settled(claim, keyHeld);
        }
        if (cursor == null) {
            return new Settlement.LeaseLost(claim, false);
        }
        cursors.refresh(List.of(cursor));
        cursor.putBack(claim.seq());
        return new Settlement.LeaseLost(claim, cursors.get(cursor.token) != null);
    }

    private List<Settlement> writeOthers(List<Outcome> outcomes) {
        LaneOutcomes batch = new LaneOutcomes(outcomes, cursors, options, unanswered);
        try {
            for (int race = 0; !batch.steps().isEmpty() && race < OPERATOR_RACES; race++) {
                for (LaneOutcomes.Step step : batch.steps()) {
                    write(batch, step);
                }
                List<LaneCursor> doubtful = batch.lanesWithUnwritten();
                if (doubtful.isEmpty() || !cursors.refresh(doubtful)) {
                    break;
                }
                batch = batch.unwritten();
            }
            List<Settlement> settlements = settlements(outcomes, batch);
            unanswered.answered(outcomes);
            return settlements;
        } catch (StoreUnavailableException e) {
            unanswered.outcomes(outcomes, this::revision);
            cursors.distrust();
            throw e;
        } catch (RuntimeException e) {
            unanswered.outcomes(
                    batch.writtenSoFar(outcomes), this::revision); // these have their answer, but nobody is told
            throw e;
        }
    }

    private int revision(Outcome outcome) {
        LaneCursor cursor = cursors.get(outcome.claim().lease().token());
        return cursor == null ? 0 : cursor.revision();
    }

    private void write(LaneOutcomes batch, LaneOutcomes.Step step) {
        Horizon.Seen seen = cursors.horizon.lastSeen();
        LaneStatements.Written written =
                table.run("write outcomes", connection -> step.write(connection, table.statements));
        if (!written.keyHeld().isEmpty()) {
            cursors.horizon.wrote(seen, written.transaction());
        }
        batch.written(written);
    }

    private List<Settlement> settlements(List<? extends Outcome> outcomes, LaneOutcomes batch) {
        List<Settlement> settlements = new ArrayList<>(outcomes.size());
        for (Outcome outcome : outcomes) {
            settlements.add(settlement(outcome, batch));
        }
        return settlements;
    }

    private Settlement settlement(Outcome outcome, LaneOutcomes batch) {
        Claim claim = outcome.claim();
        LaneCursor cursor = cursors.get(claim.lease().token());
        Boolean keyHeld = batch.keyHeld(claim);
        if (cursor == null) {
            return keyHeld == null ? new Settlement.LeaseLost(claim, false) : new Settlement.Settled(claim, keyHeld);
        }
        if (outcome instanceof Outcome.Released) {
            cursor.putBack(claim.seq());
            return new Settlement.Settled(claim);
        }
        if (keyHeld != null) {
            cursor.finished(claim.seq());
            return new Settlement.Settled(claim, keyHeld);
        }
        // The lane is ours, and the message is no longer there; whatever has its number now was left out by every look.
        cursor.putBack(claim.seq());
        return unanswered.wasSent(outcome)
                ? new Settlement.Settled(claim, true)
                : new Settlement.LeaseLost(claim, true);
    }
}
