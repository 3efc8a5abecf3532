package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements that claim messages of unordered topics, and find when the next message is due. A claim locks no row for longer than its
 * statement or its short transaction.
 */
interface ClaimStatements {

    /**
     * The due messages that were claimed, in the order of their due times.
     *
     * @param snapshot null if no message was due, or if the database does not provide it
     */
    record DueClaim(List<ClaimedRow> rows, DueScanStart.@Nullable Snapshot snapshot) {}

    /** Claims due messages. The scan starts at the due time {@code from}. */
    DueClaim claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException;

    /** Claims messages whose lease ended at most {@code span} ago. A database that gains nothing by this limit ignores it. */
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token, Duration span)
            throws SQLException;

    /**
     * Releases all messages that are leased under the token, for a claim that got no answer.
     *
     * @return how many messages were released
     */
    int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException;

    /**
     * Which messages a sweep buries, and how.
     *
     * @param span how long ago the lease may have ended; a database that gains nothing by this limit ignores it
     * @param limit the most messages to bury
     */
    record Sweep(int maxAttempts, DeathRecord epitaph, Duration span, int limit) {}

    /** Buries messages whose lease ended during the last attempt. Returns how many. */
    int sweep(Connection connection, int topicId, Sweep sweep) throws SQLException;

    /**
     * The start of a search for the next due time.
     *
     * @param span how long ago the first lease that matters may have ended; null when the search leaves out leases
     */
    record Peek(Instant from, @Nullable Duration span) {}

    /** The time until the first message is due, and until the first lease ends; null if there is none. */
    record Prospect(@Nullable Duration pending, @Nullable Duration leased) {

        private static Prospect read(ResultSet row) throws SQLException {
            return new Prospect(microsOrNone(row, "pending"), microsOrNone(row, "leased"));
        }

        private static @Nullable Duration microsOrNone(ResultSet row, String column) throws SQLException {
            long micros = row.getLong(column);
            return row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
        }

        /** Reads the result of {@link #nextDue}, which is in microseconds. */
        static Map<Integer, Prospect> byTopic(ResultSet rows) throws SQLException {
            Map<Integer, Prospect> due = new HashMap<>();
            while (rows.next()) {
                due.put(rows.getInt("id"), read(rows));
            }
            return due;
        }
    }

    /** Finds when each topic has a message to claim. Paused topics are left out. */
    Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException;

    static ClaimStatements of(SqlRunner sql) {
        return sql.kind() == DatabaseKind.POSTGRESQL ? new PostgresClaims(sql) : new InnoDbClaims(sql);
    }
}
