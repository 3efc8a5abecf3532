package dev.postrider.jdbc;

import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** Outcomes sorted into as few steps as they need: one for each token and kind. */
final class OutcomeBatch {

    /** The outcomes of one claim. */
    private static final class Group {
        final List<Long> delivered = new ArrayList<>();
        final List<Long> released = new ArrayList<>();
        final List<Dialect.Rescheduled> rescheduled = new ArrayList<>();
        final List<Dialect.BuriedRow> buried = new ArrayList<>();
    }

    @FunctionalInterface
    interface Epitaph {
        Dialect.BuriedRow of(long seq, DeadReason reason, String error);
    }

    /** Answers with the numbers of the rows that were still held. */
    @FunctionalInterface
    private interface Write {
        Set<Long> on(Connection connection) throws SQLException;
    }

    /** Outcomes of one kind under one token. */
    static final class Step {

        private final UUID token;
        private final Write write;

        private Step(UUID token, Write write) {
            this.token = token;
            this.write = write;
        }

        Set<Long> write(Connection connection) throws SQLException {
            return write.on(connection);
        }
    }

    private final List<Step> steps = new ArrayList<>();
    private final Map<UUID, Set<Long>> written = new HashMap<>();

    OutcomeBatch(
            List<? extends Outcome> outcomes,
            Dialect dialect,
            JdbcOptions.Archive archive,
            Epitaph epitaph,
            UnaryOperator<String> cleaned) {
        groups(outcomes, epitaph, cleaned).forEach((token, group) -> {
            if (!group.delivered.isEmpty()) {
                step(token, connection -> dialect.acknowledge(connection, token, group.delivered, archive));
            }
            if (!group.rescheduled.isEmpty()) {
                step(token, connection -> dialect.reschedule(connection, token, group.rescheduled));
            }
            if (!group.buried.isEmpty()) {
                step(token, connection -> dialect.bury(connection, token, group.buried));
            }
            if (!group.released.isEmpty()) {
                step(token, connection -> dialect.release(connection, token, group.released));
            }
        });
    }

    private static Map<UUID, Group> groups(
            List<? extends Outcome> outcomes, Epitaph epitaph, UnaryOperator<String> cleaned) {
        Map<UUID, Group> groups = new LinkedHashMap<>();
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
        return groups;
    }

    private void step(UUID token, Write write) {
        steps.add(new Step(token, write));
    }

    List<Step> steps() {
        return steps;
    }

    /** Notes what a step did, once that is certain. */
    void written(Step step, Set<Long> seqs) {
        written.computeIfAbsent(step.token, token -> new HashSet<>()).addAll(seqs);
    }

    boolean wasWritten(Claim claim) {
        return written.getOrDefault(claim.lease().token(), Set.of()).contains(claim.seq());
    }
}
