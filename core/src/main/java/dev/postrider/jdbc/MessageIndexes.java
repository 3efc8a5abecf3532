package dev.postrider.jdbc;

import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.RowState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The ways to the rows {@code m} of some states, each through an index and in its order, so that a limit bounds how many rows are read
 * whatever the planner's statistics say.
 */
final class MessageIndexes {

    /**
     * Rows that an index has.
     *
     * @param where the condition of the index
     * @param order its columns
     * @param hint what makes MySQL and MariaDB use it
     */
    record Entries(String where, String order, String hint) {}

    private static final String IN_LANES = " FORCE INDEX ({index message_lane})";

    /** PostgreSQL has an index for each question. A state of its condition is found through it. */
    private static final Map<RowState, List<Entries>> POSTGRES = Map.of(
            RowState.PENDING,
                    List.of(
                            postgres("m.state = 'PENDING' AND m.lane IS NULL", "m.topic_id, m.available_at, m.seq"),
                            postgres("m.state = 'PENDING' AND m.lane IS NOT NULL", "m.topic_id, m.lane, m.seq")),
            RowState.PROCESSING, List.of(postgres("m.state = 'PROCESSING'", "m.topic_id, m.locked_until")),
            RowState.DEAD, List.of(postgres("m.state = 'DEAD'", "m.topic_id, m.seq")),
            RowState.SCHEDULED, List.of(postgres("m.state = 'SCHEDULED'", "m.topic_id, m.lane, m.available_at")),
            RowState.RETRY, List.of(postgres("m.state = 'RETRY'", "m.topic_id, m.lane, m.ordering_key, m.seq")),
            RowState.BLOCKED, List.of(postgres("m.state = 'BLOCKED'", "m.topic_id, m.lane, m.ordering_key, m.seq")),
            RowState.PARKED, List.of(postgres("m.state = 'PARKED'", "m.topic_id, m.lane, m.ordering_key, m.seq")));

    private MessageIndexes() {}

    /** Returns the clause after a table that makes MySQL and MariaDB use an index. They tend to read all rows in the order of the key. */
    static String hint(DatabaseKind kind, String index) {
        return kind.isInnoDb() ? " FORCE INDEX ({index " + index + "})" : "";
    }

    private static Entries postgres(String where, String order) {
        return new Entries(where, order, "");
    }

    /** The rows of some states; all states if none is given. */
    static List<Entries> of(DatabaseKind kind, Collection<RowState> states) {
        List<Entries> entries = new ArrayList<>();
        for (RowState state : states.isEmpty() ? EnumSet.allOf(RowState.class) : states) {
            if (kind == DatabaseKind.POSTGRESQL) {
                entries.addAll(POSTGRES.getOrDefault(state, List.of()));
            } else {
                entries.add(new Entries("m.state = '" + state + "'", "m.topic_id, m.lane, m.seq", IN_LANES));
            }
        }
        return entries;
    }

    /** The dead letters of a topic in the order of their numbers; null where no index has that order. */
    static @Nullable Entries deadLetters(DatabaseKind kind, Topics.RegisteredTopic topic) {
        if (kind == DatabaseKind.POSTGRESQL) {
            return postgres("m.state = 'DEAD'", "m.seq");
        }
        return topic.lanes() == 0 ? new Entries("m.state = 'DEAD' AND m.lane IS NULL", "m.seq", IN_LANES) : null;
    }
}
