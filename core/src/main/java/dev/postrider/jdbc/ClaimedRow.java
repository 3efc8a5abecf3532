package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row as it was claimed. A row of other software that is not a valid message, or whose payload cannot be decrypted, has a {@code problem}
 * in place of the message. It does not affect other rows.
 *
 * @param message null if there is a problem, and while the payload is encrypted
 * @param problem why there is no message
 * @param sealed the message with its encrypted payload; null if that was decrypted or never encrypted. With a problem, the cipher was not
 *     available, and the message must wait
 * @param placeholder stands for the message of an unreadable row: its id, topic, tenant and ordering key, without its content. Null if there
 *     is a message
 * @param availableAt the due time; {@link Instant#EPOCH} where rows are read by number, because the due time is not needed there
 */
record ClaimedRow(
        long seq,
        @Nullable UUID id,
        @Nullable Message message,
        @Nullable String problem,
        @Nullable ReadMessage sealed,
        @Nullable Message placeholder,
        int attempts,
        int crashes,
        Instant availableAt) {

    private static final Comparator<ClaimedRow> BY_DUE_TIME =
            Comparator.comparing(ClaimedRow::availableAt).thenComparingLong(ClaimedRow::seq);

    /** Reads claimed rows and sorts them by due time: no database guarantees the order of returned rows. */
    static SqlRunner.Read<List<ClaimedRow>> reader(SqlRunner sql, TopicName topic) {
        return rows -> rows.next() ? inOrderOn(rows, sql, topic) : List.of();
    }

    /** Does the same, starting with the current row of the result set. */
    static List<ClaimedRow> inOrderOn(ResultSet rows, SqlRunner sql, TopicName topic) throws SQLException {
        List<ClaimedRow> claimed = readOn(rows, sql, topic);
        claimed.sort(BY_DUE_TIME);
        return claimed;
    }

    private static List<ClaimedRow> readOn(ResultSet rows, SqlRunner sql, TopicName topic) throws SQLException {
        Reader reader = new Reader(rows, sql, topic);
        int availableAt = rows.findColumn("available_at");
        List<ClaimedRow> claimed = new ArrayList<>();
        do {
            Instant due = sql.readTimeIfValid(rows, availableAt);
            claimed.add(reader.read(due == null ? Instant.EPOCH : due));
        } while (rows.next());
        return claimed;
    }

    /** Reads the rows of a result set one after another. Not thread-safe. */
    static final class Reader {

        private final ResultSet row;
        private final RowReader messages;
        private final int seq;
        private final int attempts;
        private final int crashes;

        Reader(ResultSet row, SqlRunner sql, TopicName topic) throws SQLException {
            this.row = row;
            this.messages = new RowReader(row, sql, topic);
            this.seq = row.findColumn("seq");
            this.attempts = row.findColumn("attempts");
            this.crashes = row.findColumn("crashes");
        }

        ClaimedRow read(Instant availableAt) throws SQLException {
            long number = row.getLong(seq);
            int tried = row.getInt(attempts);
            int crashed = row.getInt(crashes);
            UUID id = messages.id();
            try {
                ReadMessage read = messages.read(id);
                return read.sealed() == null
                        ? new ClaimedRow(number, id, read.message(), null, null, null, tried, crashed, availableAt)
                        : new ClaimedRow(number, id, null, null, read, null, tried, crashed, availableAt);
            } catch (InvalidMessageException | IllegalArgumentException e) {
                String problem = String.valueOf(e.getMessage());
                Message placeholder = messages.placeholder(id);
                return new ClaimedRow(number, id, null, problem, null, placeholder, tried, crashed, availableAt);
            }
        }
    }

    boolean isSealed() {
        return sealed != null;
    }

    /** Returns the message, or what stands for it if the row is unreadable; null while the payload is encrypted. */
    @Nullable
    Message messageOrPlaceholder() {
        return message == null ? placeholder : message;
    }

    /** Whether the row has no message and never will. */
    boolean isUnreadable() {
        return message == null && sealed == null;
    }

    ClaimedRow opened(Message opened) {
        return new ClaimedRow(seq, id, opened, null, null, null, attempts, crashes, availableAt);
    }

    /** Returns the row of a message whose payload cannot be decrypted. */
    ClaimedRow unreadable(String why) {
        Message without = sealed == null ? placeholder : sealed.message();
        return new ClaimedRow(seq, id, null, why, null, without, attempts, crashes, availableAt);
    }

    /** Returns the row of a message that must wait for its cipher. */
    ClaimedRow postponed(String why) {
        return new ClaimedRow(seq, id, null, why, sealed, null, attempts, crashes, availableAt);
    }

    long bytes() {
        return message == null ? 0 : message.payload().size();
    }
}
