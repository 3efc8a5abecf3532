package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Outcomes of many claims, grouped into one step for each kind of outcome; delivered messages by what the archive keeps of their topics.
 * Not thread-safe.
 */
final class OutcomeBatch {

    @FunctionalInterface
    interface Epitaphs {
        DeathRecord of(DeadReason reason, String error);
    }

    /** Writes the outcomes of one kind. Returns the rows that were still leased under their tokens. */
    @FunctionalInterface
    interface OutcomeWrite {
        Set<LeasedRow> write(Connection connection) throws SQLException;
    }

    private final Map<TableOptions.Archive, List<LeasedRow>> delivered = new EnumMap<>(TableOptions.Archive.class);
    private final List<LeasedRow> released = new ArrayList<>();
    private final List<OutcomeStatements.Rescheduled> rescheduled = new ArrayList<>();
    private final List<OutcomeStatements.BuriedRow> buried = new ArrayList<>();
    private final List<OutcomeWrite> steps = new ArrayList<>();
    private final Set<LeasedRow> written = new HashSet<>();

    OutcomeBatch(
            List<? extends Outcome> outcomes, OutcomeStatements statements, StorageOptions options, Epitaphs epitaphs) {
        Sorter sorter = new Sorter(this, options, epitaphs);
        outcomes.forEach(outcome -> outcome.fold(sorter));
        delivered.forEach(
                (archive, rows) -> step(rows, connection -> statements.acknowledge(connection, rows, archive)));
        step(rescheduled, connection -> statements.reschedule(connection, rescheduled));
        step(buried, connection -> statements.bury(connection, buried));
        step(released, connection -> statements.release(connection, released));
    }

    /** Adds an outcome to the rows of its kind. Handled and lost messages need no statement. */
    private record Sorter(OutcomeBatch batch, StorageOptions options, Epitaphs epitaphs)
            implements Outcome.Cases<Boolean> {

        @Override
        public Boolean delivered(Outcome.Delivered outcome) {
            TableOptions.Archive archive =
                    options.archive(outcome.claim().message().topic());
            return batch.delivered
                    .computeIfAbsent(archive, kind -> new ArrayList<>())
                    .add(row(outcome.claim()));
        }

        @Override
        public Boolean retry(Outcome.Retry outcome) {
            String error = ErrorText.clean(outcome.error(), options.tables().errorLimit());
            return batch.rescheduled.add(new OutcomeStatements.Rescheduled(
                    row(outcome.claim()),
                    outcome.delay(),
                    error,
                    AttemptHistory.entry(
                            outcome.claim(),
                            outcome.took(),
                            error,
                            ErrorText.fingerprint(DeadReason.FAILED.name(), error))));
        }

        @Override
        public Boolean buried(Outcome.Buried outcome) {
            DeathRecord death = epitaphs.of(outcome.reason(), outcome.error());
            String attempt = AttemptHistory.entry(outcome.claim(), outcome.took(), death.error(), death.fingerprint());
            return batch.buried.add(new OutcomeStatements.BuriedRow(row(outcome.claim()), death, attempt));
        }

        /** A removed message is not archived: it was not delivered. */
        @Override
        public Boolean expired(Outcome.Expired outcome) {
            if (outcome.removed()) {
                return batch.delivered
                        .computeIfAbsent(TableOptions.Archive.OFF, kind -> new ArrayList<>())
                        .add(row(outcome.claim()));
            }
            DeathRecord death = epitaphs.of(DeadReason.EXPIRED, outcome.error());
            String ended = AttemptHistory.entry(outcome.claim(), null, death.error(), death.fingerprint());
            return batch.buried.add(new OutcomeStatements.BuriedRow(row(outcome.claim()), death, ended));
        }

        @Override
        public Boolean released(Outcome.Released outcome) {
            return batch.released.add(row(outcome.claim()));
        }

        @Override
        public Boolean handled(Outcome.Handled outcome) {
            return false;
        }

        @Override
        public Boolean lost(Outcome.Lost outcome) {
            return false;
        }
    }

    private void step(List<?> rows, OutcomeWrite step) {
        if (!rows.isEmpty()) {
            steps.add(step);
        }
    }

    static LeasedRow row(Claim claim) {
        return new LeasedRow(claim.seq(), claim.lease().token());
    }

    List<OutcomeWrite> steps() {
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
