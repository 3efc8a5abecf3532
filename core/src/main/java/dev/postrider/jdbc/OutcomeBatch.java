package dev.postrider.jdbc;

import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** Outcomes sorted into as few statements as they need: one for each token and kind. */
final class OutcomeBatch {

    /** The outcomes of one claim. */
    private static final class Group {
        final List<Long> delivered = new ArrayList<>();
        final List<Long> released = new ArrayList<>();
        final List<Dialect.Rescheduled> rescheduled = new ArrayList<>();
        final List<Dialect.BuriedRow> buried = new ArrayList<>();
        final Set<Long> written = new HashSet<>();

        int statements() {
            return size(delivered) + size(released) + size(rescheduled) + size(buried);
        }

        private static int size(List<?> list) {
            return list.isEmpty() ? 0 : 1;
        }
    }

    @FunctionalInterface
    interface Epitaph {
        Dialect.BuriedRow of(long seq, DeadReason reason, String error);
    }

    private final Map<UUID, Group> groups = new HashMap<>();

    OutcomeBatch(List<? extends Outcome> outcomes, Epitaph epitaph, UnaryOperator<String> cleaned) {
        for (Outcome outcome : outcomes) {
            long seq = outcome.claim().seq();
            Group group = groups.computeIfAbsent(outcome.claim().lease().token(), token -> new Group());
            if (outcome instanceof Outcome.Delivered) {
                group.delivered.add(seq);
            } else if (outcome instanceof Outcome.Released) {
                group.released.add(seq);
            } else if (outcome instanceof Outcome.Retry retry) {
                group.rescheduled.add(new Dialect.Rescheduled(seq, retry.delay(), cleaned.apply(retry.error())));
            } else if (outcome instanceof Outcome.Buried buried) {
                group.buried.add(epitaph.of(seq, buried.reason(), buried.error()));
            }
        }
    }

    boolean isOneStatement() {
        return groups.values().stream().mapToInt(Group::statements).sum() == 1;
    }

    /** May be called again when the transaction is retried. */
    boolean write(Dialect dialect, Connection connection, JdbcOptions.Archive archive) throws SQLException {
        for (Map.Entry<UUID, Group> entry : groups.entrySet()) {
            UUID token = entry.getKey();
            Group group = entry.getValue();
            group.written.clear();
            if (!group.delivered.isEmpty()) {
                group.written.addAll(dialect.acknowledge(connection, token, group.delivered, archive));
            }
            if (!group.rescheduled.isEmpty()) {
                group.written.addAll(dialect.reschedule(connection, token, group.rescheduled));
            }
            if (!group.buried.isEmpty()) {
                group.written.addAll(dialect.bury(connection, token, group.buried));
            }
            if (!group.released.isEmpty()) {
                group.written.addAll(dialect.release(connection, token, group.released));
            }
        }
        return true;
    }

    boolean wasWritten(Claim claim) {
        Group group = groups.get(claim.lease().token());
        return group != null && group.written.contains(claim.seq());
    }
}
