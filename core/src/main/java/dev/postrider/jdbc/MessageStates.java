package dev.postrider.jdbc;

import dev.postrider.admin.StoredMessage.State;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The operators' words for the states of rows. A message that waits on an unordered topic is stored as {@code PENDING}, and one outside
 * the order of an ordered topic as {@code SCHEDULED}: its attempts and its due time tell which word is meant.
 */
final class MessageStates {

    /** The words for messages in the live table. */
    static final Set<State> LIVE = EnumSet.complementOf(EnumSet.of(State.DELIVERED, State.UNKNOWN));

    private MessageStates() {}

    /** Reads the word from the columns {@code state}, {@code attempts}, {@code available_at} and {@code now}. */
    static State read(ResultSet row, SqlRunner sql) throws SQLException {
        Optional<RowState> stored = RowState.find(row.getString("state"));
        if (stored.isEmpty()) {
            return State.UNKNOWN;
        }
        return switch (stored.get()) {
            case PENDING ->
                row.getInt("attempts") > 0 ? State.RETRYING : isDue(row, sql) ? State.PENDING : State.SCHEDULED;
            case SCHEDULED -> row.getInt("attempts") > 0 ? State.RETRYING : State.SCHEDULED;
            case RETRY -> State.RETRYING;
            case PROCESSING -> State.PROCESSING;
            case BLOCKED -> State.BLOCKED;
            case PARKED -> State.PARKED;
            case DEAD -> State.DEAD;
        };
    }

    private static boolean isDue(ResultSet row, SqlRunner sql) throws SQLException {
        Instant due = sql.readTimeIfValid(row, "available_at");
        Instant now = sql.readTime(row, "now");
        return due == null || now == null || !due.isAfter(now);
    }

    /** The same as a condition. {@link dev.postrider.admin.TopicStatus} counts by the same rules. */
    static String condition(State state) {
        return switch (state) {
            case PENDING -> "m.state = 'PENDING' AND m.attempts = 0 AND m.available_at <= {now}";
            case SCHEDULED ->
                "m.attempts = 0 AND (m.state = 'SCHEDULED' OR m.state = 'PENDING' AND m.available_at > {now})";
            case RETRYING -> "m.state = 'RETRY' OR m.attempts > 0 AND m.state IN ('PENDING', 'SCHEDULED')";
            case PROCESSING -> "m.state = 'PROCESSING'";
            case BLOCKED -> "m.state = 'BLOCKED'";
            case PARKED -> "m.state = 'PARKED'";
            case DEAD -> "m.state = 'DEAD'";
            case DELIVERED, UNKNOWN -> "1 = 0";
        };
    }

    /** The stored states that a word can mean. */
    static Set<RowState> stored(State state) {
        return switch (state) {
            case PENDING -> EnumSet.of(RowState.PENDING);
            case SCHEDULED -> EnumSet.of(RowState.PENDING, RowState.SCHEDULED);
            case RETRYING -> EnumSet.of(RowState.PENDING, RowState.SCHEDULED, RowState.RETRY);
            case PROCESSING -> EnumSet.of(RowState.PROCESSING);
            case BLOCKED -> EnumSet.of(RowState.BLOCKED);
            case PARKED -> EnumSet.of(RowState.PARKED);
            case DEAD -> EnumSet.of(RowState.DEAD);
            case DELIVERED, UNKNOWN -> EnumSet.noneOf(RowState.class);
        };
    }
}
