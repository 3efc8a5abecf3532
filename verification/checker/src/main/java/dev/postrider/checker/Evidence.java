package dev.postrider.checker;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The journals and tables of a run, and derived facts of each message. */
final class Evidence {

    final Run run;
    final History history;

    /** Null if only the journals are checked. */
    final @Nullable Tables tables;

    private final Map<Integer, Row> rows = new HashMap<>();
    private final Ints effects = new Ints(0);
    private final BitSet purged = new BitSet();
    private final Map<Integer, List<Action>> actions = new HashMap<>();
    private final Map<String, Set<String>> meant = new HashMap<>();
    private @Nullable Groups receipts;
    private @Nullable Groups outcomes;
    private @Nullable Groups sendings;

    Evidence(Run run, History history, @Nullable Tables tables) {
        this.run = run;
        this.history = history;
        this.tables = tables;
        history.actions.forEach(action -> actions.computeIfAbsent(action.message(), any -> new ArrayList<>())
                .add(action));
        if (tables != null) {
            tables.rows.forEach(row -> rows.put(row.message(), row));
            for (int row = 0; row < tables.effect.size(); row++) {
                int message = tables.effect.get(row);
                effects.set(message, effects.get(message) + 1);
            }
            for (int row = 0; row < tables.changes.size(); row++) {
                purged.set(
                        tables.changes.message.get(row),
                        tables.changes.step(row).isPurge());
            }
        }
    }

    /** How a transaction ended. */
    enum End {
        COMMITTED,
        ROLLED_BACK,
        /** The answer was lost, and the tables are not available. */
        UNDECIDED
    }

    /** The end of a transaction: by its table row; without tables by the producer's journal, which may not have it. */
    End end(int transaction) {
        if (tables != null) {
            return tables.transactions.get(transaction) ? End.COMMITTED : End.ROLLED_BACK;
        }
        if (history.transactions.committed.get(transaction)) {
            return End.COMMITTED;
        }
        return history.transactions.rolledBack.get(transaction) ? End.ROLLED_BACK : End.UNDECIDED;
    }

    /** The row of the intents that wrote the message, or may have; -1 if there is none. */
    int written(int message) {
        int maybe = -1;
        for (int row = history.intents.last.get(message); row >= 0; row = history.intents.previous.get(row)) {
            if (history.intents.kept.get(row)) {
                End end = end(history.intents.transaction.get(row));
                if (end == End.COMMITTED) {
                    return row;
                }
                maybe = end == End.UNDECIDED ? row : maybe;
            }
        }
        return maybe;
    }

    /** Whether the message's transaction committed and did not roll it back to a savepoint. */
    boolean isCommitted(int message) {
        int row = written(message);
        return row >= 0 && end(history.intents.transaction.get(row)) == End.COMMITTED;
    }

    @Nullable
    Row row(int message) {
        return rows.get(message);
    }

    int effects(int message) {
        return effects.get(message);
    }

    boolean isArchived(int message) {
        return tables != null && tables.archived.get(message) > 0;
    }

    List<Action> actions(int message) {
        return actions.getOrDefault(message, List.of());
    }

    boolean was(int message, String... names) {
        return actions(message).stream().anyMatch(action -> List.of(names).contains(action.name()));
    }

    /** How often an operator gave the message all its attempts again. */
    int newBeginnings(int message) {
        return (int) actions(message).stream()
                .filter(action ->
                        action.name().equals("replay") || action.name().equals("release"))
                .count();
    }

    /** Whether the message is known to have been in the outbox: a row, an effect, a delivery, an outcome or an action shows it. */
    boolean existed(int message) {
        return receipts().size(message) > 0
                || rows.containsKey(message)
                || isArchived(message)
                || effects(message) > 0
                || outcomes().size(message) > 0
                || sendings().size(message) > 0
                || !actions(message).isEmpty();
    }

    /** Whether the receiver or a consumer accepted it. */
    boolean isDelivered(int message) {
        return effects(message) > 0
                || receipts()
                        .rows(message)
                        .anyMatch(row -> history.receipts.result(row).isTaken());
    }

    /**
     * Whether the message is visibly dead or parked, or was removed as a dead letter. {@link LegalTransitions} checks whether it may
     * leave.
     */
    boolean isDead(int message) {
        Row row = rows.get(message);
        if (row != null) {
            return row.state() == State.DEAD || row.state() == State.PARKED;
        }
        return purged.get(message)
                || was(message, "discard", "purge")
                || (tables == null && mayBeDead(message))
                || (has(message, Outcomes.Kind.BURIED) && wasPurged(message));
    }

    /** By the journals alone: a worker may have buried a rejected message and been killed before it wrote that to its journal. */
    private boolean mayBeDead(int message) {
        return has(message, Outcomes.Kind.BURIED, Outcomes.Kind.PARKED)
                || receipts().rows(message).anyMatch(row -> history.receipts.result(row) == Result.POISON);
    }

    private boolean wasPurged(int message) {
        int row = written(message);
        String topic = row < 0 ? "" : history.names.get(history.intents.topic.get(row));
        return actions(-1).stream()
                .anyMatch(action -> action.name().equals("purge")
                        && (action.topic().isEmpty() || action.topic().equals(topic)));
    }

    boolean has(int message, Outcomes.Kind... kinds) {
        return outcomes().rows(message).anyMatch(row -> List.of(kinds).contains(history.outcomes.kind(row)));
    }

    /** By message, oldest first. */
    Groups receipts() {
        if (receipts == null) {
            receipts = Groups.of(history.receipts.message, history.messages.size());
        }
        return receipts;
    }

    /** By message, in the order of the workers' journals, not of time. */
    Groups outcomes() {
        if (outcomes == null) {
            outcomes = Groups.of(history.outcomes.message, history.messages.size());
        }
        return outcomes;
    }

    /** By message, in the order of the workers' journals, not of time. */
    Groups sendings() {
        if (sendings == null) {
            sendings = Groups.of(history.sendings.message, history.messages.size());
        }
        return sendings;
    }

    /** Whether the target of a fault is this worker, by its name, its journal or its process; or all workers. */
    boolean isMeant(Fault fault, String worker) {
        return fault.target().isEmpty()
                || fault.target().equals("all")
                || meant.computeIfAbsent(
                                fault.target(),
                                target -> history.workers.stream()
                                        .filter(known -> known.isMeant(target))
                                        .map(Worker::name)
                                        .collect(Collectors.toSet()))
                        .contains(worker);
    }
}
