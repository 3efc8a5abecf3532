package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the outcomes of lanes. If an operator changes a lane meanwhile, the remaining outcomes are written again. Thread-safe;
 * in each lane one write runs at a time.
 */
final class LaneWriter {

    private static final Logger log = LoggerFactory.getLogger(LaneWriter.class);

    /** The most writes of the same outcomes while operators change the lane. */
    private static final int OPERATOR_RACES = 10;

    private final LaneTable table;
    private final LaneCursors cursors;
    private final StorageOptions options;
    private final LongSupplier nanos;
    private final InDoubtWrites unanswered = new InDoubtWrites();

    /** @param nanos the monotonic clock */
    LaneWriter(LaneTable table, LaneCursors cursors, StorageOptions options, LongSupplier nanos) {
        this.table = table;
        this.cursors = cursors;
        this.options = options;
        this.nanos = nanos;
    }

    List<Settlement> settle(List<? extends LaneOutcome> outcomes) {
        Set<LaneCursor> lanes = new HashSet<>();
        for (LaneOutcome outcome : outcomes) {
            LaneCursor cursor = cursors.get(outcome.claim().lease().token());
            if (cursor != null) {
                lanes.add(cursor);
            }
        }
        return LaneCursor.writing(lanes, () -> OutcomesByTopic.settle(outcomes, this::write, this::defer));
    }

    private void defer(LaneOutcome outcome) {
        LaneCursor cursor = cursors.get(outcome.claim().lease().token());
        if (cursor != null && !(outcome instanceof Outcome.Released)) {
            cursor.defer(outcome.claim());
        }
    }

    /** @return one result for each outcome; none is made before every write has succeeded, because all of them are sent again otherwise */
    private List<Settlement> write(List<? extends LaneOutcome> outcomes) {
        LaneOutcomes batch = new LaneOutcomes(outcomes, cursors, options, unanswered);
        try {
            int races = 0;
            while (races < OPERATOR_RACES && !writeInSteps(batch)) {
                races++;
            }
            writeHandled(batch);
            List<Settlement> settlements = settlements(batch);
            unanswered.answered(outcomes);
            outcomes.forEach(this::promoteLockedHead);
            return settlements;
        } catch (StoreUnavailableException e) {
            unanswered.outcomes(outcomes, this::revision);
            cursors.distrust();
            throw e;
        } catch (RuntimeException e) {
            unanswered.outcomes(batch.writtenSoFar(), this::revision); // written, but the caller gets no settlement
            throw e;
        }
    }

    /**
     * Promotes a message that could not become the head of its key while its handler ran, if it still waits. A failed message
     * was written as the head, or has left the key to the next message.
     */
    private void promoteLockedHead(LaneOutcome outcome) {
        LaneCursor cursor = cursors.get(outcome.claim().lease().token());
        long seq = outcome.claim().seq();
        if (cursor != null && cursor.takeLockedHead(seq)) {
            try {
                if (promoteNext(cursor, outcome.claim()).isEmpty()) {
                    cursor.fullScanSoon(nanos.getAsLong());
                }
            } catch (PostriderException e) {
                log.debug("The head of a key could not be promoted; a full scan follows soon", e);
                cursor.fullScanSoon(nanos.getAsLong());
            }
        }
    }

    /** @return whether messages of the key are waiting; empty if another session has locked the lane, and nothing was changed */
    private Optional<Boolean> promoteNext(@Nullable LaneCursor cursor, Claim claim) {
        return table.promoteNext(claim.message()).map(promotion -> {
            Long locked = promotion.lockedHead();
            if (cursor != null && locked != null) {
                cursor.headIsLocked(locked, nanos.getAsLong());
            }
            return promotion.keyBlocked();
        });
    }

    /**
     * Promotes the next message of each blocked key whose head was handled: the transaction of the handler has already removed the head.
     * Runs after the other outcomes of the batch are written, so that a message that fails or is blocked meanwhile counts. Otherwise
     * the sequencer would take the key for free, and later messages would overtake that message. A lane that is found locked is
     * tried once, and then costs no more statements.
     */
    private void writeHandled(LaneOutcomes batch) {
        Set<LaneCursor> lockedLanes = new HashSet<>();
        for (LaneOutcomes.Progress each : batch.all()) {
            if (LaneOutcomes.isOfHandler(each.outcome)) {
                writeHandled(each, lockedLanes);
            }
        }
    }

    private void writeHandled(LaneOutcomes.Progress handled, Set<LaneCursor> lockedLanes) {
        LaneCursor cursor = cursors.get(handled.claim.lease().token());
        Optional<Boolean> keyBlocked = Optional.of(false);
        if (cursor == null || cursor.isInBlockedKey(handled.claim.seq())) {
            boolean isLocked = cursor != null && lockedLanes.contains(cursor);
            keyBlocked = isLocked ? Optional.empty() : promoteNext(cursor, handled.claim);
        }
        handled.keyBlocked = keyBlocked.orElse(null);
        if (cursor != null && keyBlocked.isEmpty()) {
            lockedLanes.add(cursor);
            handled.locked(cursor);
        }
        if (cursor != null && keyBlocked.isPresent() && handled.outcome instanceof Outcome.Lost) {
            cursors.refresh(List.of(cursor));
        }
    }

    private int revision(LaneOutcome outcome) {
        LaneCursor cursor = cursors.get(outcome.claim().lease().token());
        return cursor == null ? 0 : cursor.revision();
    }

    /**
     * Writes step by step. Rows that a step did not match are checked before the next step, which may depend on them. Their states are read
     * before their lanes: if a lane is unchanged then, no operator and no other owner has changed the states.
     *
     * @return false if an operator changed a lane meanwhile: then the remaining outcomes must be written again
     */
    private boolean writeInSteps(LaneOutcomes batch) {
        for (List<LaneOutcomes.Step> left = batch.steps(); !left.isEmpty(); left = batch.steps()) {
            for (LaneOutcomes.Step step : left) {
                write(step);
                List<LaneOutcomes.Progress> unmet = step.unmet();
                if (!unmet.isEmpty()) {
                    Map<Long, RowState> states = states(unmet);
                    if (cursors.refresh(lanes(unmet))) {
                        return false;
                    }
                    tellApart(step, unmet, states);
                    break;
                }
            }
        }
        return true;
    }

    private void write(LaneOutcomes.Step step) {
        Horizon.Seen seen = cursors.horizon.lastSeen();
        LaneOutcomeStatements.Written written =
                table.run("write outcomes", connection -> step.write().run(connection, table.sql.outcomes()));
        if (!written.isEmpty()) {
            cursors.horizon.wrote(seen, written.transaction());
        }
        for (LaneOutcomes.Progress outcome : step.part()) {
            long seq = outcome.claim.seq();
            outcome.keyBlocked = written.keyBlocked(seq);
            LaneCursor cursor = cursors.get(outcome.claim.lease().token());
            if (cursor != null && outcome.isWritten()) {
                cursor.written(seq);
                Long head = written.lockedHeads().isEmpty()
                        ? null
                        : written.lockedHeads().get(seq);
                if (head != null) {
                    cursor.headIsLocked(head, nanos.getAsLong());
                }
            }
        }
    }

    private List<LaneCursor> lanes(List<LaneOutcomes.Progress> outcomes) {
        Set<LaneCursor> lanes = new LinkedHashSet<>();
        for (LaneOutcomes.Progress outcome : outcomes) {
            LaneCursor cursor = cursors.get(outcome.claim.lease().token());
            if (cursor != null) {
                lanes.add(cursor);
            }
        }
        return List.copyOf(lanes);
    }

    private Map<Long, RowState> states(List<LaneOutcomes.Progress> outcomes) {
        Map<Long, UUID> ids =
                LaneReads.ids(outcomes.stream().map(each -> each.claim).toList());
        return table.statement("find messages", connection -> table.sql.reads().states(connection, ids));
    }

    /**
     * Separates locked rows from gone rows. In an owned and unchanged lane, an unmatched row in a state of the step is locked, or its lane
     * is.
     */
    private void tellApart(LaneOutcomes.Step step, List<LaneOutcomes.Progress> unmet, Map<Long, RowState> states) {
        for (LaneOutcomes.Progress outcome : unmet) {
            LaneCursor cursor = cursors.get(outcome.claim.lease().token());
            RowState state = states.get(outcome.claim.seq());
            if (cursor != null && state != null && step.states().contains(state)) {
                outcome.locked(cursor);
            } else {
                outcome.gone = true;
            }
        }
    }

    private List<Settlement> settlements(LaneOutcomes batch) {
        List<Settlement> settlements = new ArrayList<>(batch.all().size());
        for (LaneOutcomes.Progress outcome : batch.all()) {
            settlements.add(settlement(batch, outcome));
        }
        return settlements;
    }

    private Settlement settlement(LaneOutcomes batch, LaneOutcomes.Progress progress) {
        LaneOutcome outcome = progress.outcome;
        Claim claim = progress.claim;
        LaneCursor cursor = cursors.get(claim.lease().token());
        Boolean keyBlocked = progress.keyBlocked;
        if (LaneOutcomes.isOfHandler(outcome)) {
            return ofHandler(progress, cursor);
        }
        if (cursor != null && !(outcome instanceof Outcome.Released) && batch.isDeferred(cursor, progress)) {
            cursor.defer(claim);
            return new Settlement.Locked(claim);
        }
        if (cursor == null) {
            return keyBlocked == null
                    ? new Settlement.LeaseLost(claim, false)
                    : new Settlement.Settled(claim, keyBlocked);
        }
        if (outcome instanceof Outcome.Released) {
            cursor.putBack(claim.seq());
            return new Settlement.Settled(claim);
        }
        if (keyBlocked != null) {
            cursor.finished(claim.seq());
            return new Settlement.Settled(claim, keyBlocked);
        }
        // The lane is owned, but the message is gone. Scans left out its number, so a new row with it must be read.
        cursor.putBack(claim.seq());
        return unanswered.wasSent(outcome)
                ? new Settlement.Settled(claim, true)
                : new Settlement.LeaseLost(claim, true);
    }

    private static Settlement ofHandler(LaneOutcomes.Progress progress, @Nullable LaneCursor cursor) {
        Claim claim = progress.claim;
        Boolean keyBlocked = progress.keyBlocked;
        if (keyBlocked == null) {
            return new Settlement.Locked(claim);
        }
        if (progress.outcome instanceof Outcome.Lost) {
            if (cursor != null) {
                cursor.putBack(claim.seq());
            }
            return new Settlement.LeaseLost(claim, cursor != null);
        }
        if (cursor != null) {
            cursor.finished(claim.seq());
        }
        return new Settlement.Settled(claim, keyBlocked);
    }
}
