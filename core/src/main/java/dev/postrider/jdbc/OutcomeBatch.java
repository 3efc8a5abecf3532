package dev.postrider.jdbc;

import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Outcomes sorted into as few steps as they need: one for each kind, whatever the number of claims. */
final class OutcomeBatch {

    @FunctionalInterface
    interface Epitaphs {
        Dialect.Epitaph of(DeadReason reason, String error);
    }

    /** Outcomes of one kind. Answers with the rows that were still held. */
    @FunctionalInterface
    interface Step {
        Set<Dialect.HeldRow> write(Connection connection) throws SQLException;
    }

    private final List<Dialect.HeldRow> delivered = new ArrayList<>();
    private final List<Dialect.HeldRow> released = new ArrayList<>();
    private final List<Dialect.Rescheduled> rescheduled = new ArrayList<>();
    private final List<Dialect.BuriedRow> buried = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final Set<Dialect.HeldRow> written = new HashSet<>();

    OutcomeBatch(
            List<? extends Outcome> outcomes,
            Dialect dialect,
            JdbcOptions.Archive archive,
            Epitaphs epitaphs,
            UnaryOperator<String> cleaned) {
        outcomes.forEach(outcome -> sort(outcome, epitaphs, cleaned));
        step(delivered, connection -> dialect.acknowledge(connection, delivered, archive));
        step(rescheduled, connection -> dialect.reschedule(connection, rescheduled));
        step(buried, connection -> dialect.bury(connection, buried));
        step(released, connection -> dialect.release(connection, released));
    }

    private void sort(Outcome outcome, Epitaphs epitaphs, UnaryOperator<String> cleaned) {
        Dialect.HeldRow row = row(outcome.claim());
        if (outcome instanceof Outcome.Delivered) {
            delivered.add(row);
        } else if (outcome instanceof Outcome.Released) {
            released.add(row);
        } else if (outcome instanceof Outcome.Retry retry) {
            rescheduled.add(new Dialect.Rescheduled(row, retry.delay(), cleaned.apply(retry.error())));
        } else if (outcome instanceof Outcome.Buried dead) {
            buried.add(new Dialect.BuriedRow(row, epitaphs.of(dead.reason(), dead.error())));
        } else if (!(outcome instanceof Outcome.Handled || outcome instanceof Outcome.Lost)) {
            throw new IllegalArgumentException(outcome.getClass().getSimpleName()
                    + " is an outcome of a lane: a message that was claimed by itself is delivered, retried, buried or"
                    + " released");
        }
    }

    private void step(List<?> rows, Step step) {
        if (!rows.isEmpty()) {
            steps.add(step);
        }
    }

    static Dialect.HeldRow row(Claim claim) {
        return new Dialect.HeldRow(claim.seq(), claim.lease().token());
    }

    List<Step> steps() {
        return steps;
    }

    /** Notes what a step did, once that is certain. */
    void written(Set<Dialect.HeldRow> rows) {
        written.addAll(rows);
    }

    boolean wasWritten(Claim claim) {
        return written.contains(row(claim));
    }
}
