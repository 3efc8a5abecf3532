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

/** Outcomes of many claims, grouped into one step for each kind of outcome. Not thread-safe. */
final class OutcomeBatch {

    @FunctionalInterface
    interface Epitaphs {
        DeathRecord of(DeadReason reason, String error);
    }

    /** Writes the outcomes of one kind. Returns the rows that were still leased under their tokens. */
    @FunctionalInterface
    interface Step {
        Set<LeasedRow> write(Connection connection) throws SQLException;
    }

    private final List<LeasedRow> delivered = new ArrayList<>();
    private final List<LeasedRow> released = new ArrayList<>();
    private final List<OutcomeStatements.Rescheduled> rescheduled = new ArrayList<>();
    private final List<OutcomeStatements.BuriedRow> buried = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final Set<LeasedRow> written = new HashSet<>();

    OutcomeBatch(
            List<? extends Outcome> outcomes,
            OutcomeStatements statements,
            JdbcOptions.Archive archive,
            Epitaphs epitaphs,
            UnaryOperator<String> cleaned) {
        outcomes.forEach(outcome -> sort(outcome, epitaphs, cleaned));
        step(delivered, connection -> statements.acknowledge(connection, delivered, archive));
        step(rescheduled, connection -> statements.reschedule(connection, rescheduled));
        step(buried, connection -> statements.bury(connection, buried));
        step(released, connection -> statements.release(connection, released));
    }

    private void sort(Outcome outcome, Epitaphs epitaphs, UnaryOperator<String> cleaned) {
        LeasedRow row = row(outcome.claim());
        if (outcome instanceof Outcome.Delivered) {
            delivered.add(row);
        } else if (outcome instanceof Outcome.Released) {
            released.add(row);
        } else if (outcome instanceof Outcome.Retry retry) {
            rescheduled.add(new OutcomeStatements.Rescheduled(row, retry.delay(), cleaned.apply(retry.error())));
        } else if (outcome instanceof Outcome.Buried dead) {
            buried.add(new OutcomeStatements.BuriedRow(row, epitaphs.of(dead.reason(), dead.error())));
        } else if (!(outcome instanceof Outcome.Handled || outcome instanceof Outcome.Lost)) {
            throw new IllegalArgumentException(outcome.getClass().getSimpleName()
                    + " is an outcome of a lane: a message of an unordered topic is delivered, retried, buried or"
                    + " released");
        }
    }

    private void step(List<?> rows, Step step) {
        if (!rows.isEmpty()) {
            steps.add(step);
        }
    }

    static LeasedRow row(Claim claim) {
        return new LeasedRow(claim.seq(), claim.lease().token());
    }

    List<Step> steps() {
        return steps;
    }

    /** Notes the rows that a step changed. Called when its result is certain. */
    void written(Set<LeasedRow> rows) {
        written.addAll(rows);
    }

    boolean wasWritten(Claim claim) {
        return written.contains(row(claim));
    }
}
