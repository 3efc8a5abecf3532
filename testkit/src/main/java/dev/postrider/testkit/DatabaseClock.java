package dev.postrider.testkit;

import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Simulates the passing of time for all rows of Postrider in a database: leases expire, retries and scheduled messages become due,
 * and rows reach their retention time. Postrider uses only the clock of the database, which a test cannot move. So this class moves
 * the times in the rows back instead. Thread-safe.
 */
public final class DatabaseClock {

    private static final List<String> COMMAND_TIMES =
            List.of("lease_until", "created_at", "updated_at", "completed_at", "result_expires_at", "key_expires_at");

    private static final List<String> OPERATION_TIMES =
            List.of("until", "created_at", "started_at", "updated_at", "ended_at");

    /** Longer than any retention time, and within the range of every database. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final DataSource dataSource;
    private final @Nullable String schema;
    private final String tablePrefix;

    public DatabaseClock(DataSource dataSource) {
        this(dataSource, "postrider_");
    }

    public DatabaseClock(DataSource dataSource, String tablePrefix) {
        this(dataSource, null, tablePrefix);
    }

    /** @param schema as in {@code TableOptions}: null for the default schema of the connection */
    public DatabaseClock(DataSource dataSource, @Nullable String schema, String tablePrefix) {
        this.dataSource = dataSource;
        this.schema = schema;
        this.tablePrefix = tablePrefix;
    }

    /**
     * Returns a new UUID of version 7 whose time is {@code age} before the clock of this JVM. Use it as the id of a message, or as the
     * key of a command, of that age. {@link #advance} does not change ids, and the time of an id is part of the id.
     *
     * @throws IllegalArgumentException for more than 36,500 days
     */
    public static MessageId idOfAge(Duration age) {
        checked(age);
        UUID now = MessageId.next().value();
        long millis = System.currentTimeMillis() - age.toMillis();
        long high = (millis << 16) | (now.getMostSignificantBits() & 0xFFFF);
        return new MessageId(new UUID(high, now.getLeastSignificantBits()));
    }

    private static void checked(Duration time) {
        if (time.abs().compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "The time can move by at most " + LONGEST.toDays() + " days, but not by " + time);
        }
    }

    /**
     * Moves the times of all rows back, as if this much time had passed. A message that becomes due is due now.
     *
     * @throws IllegalArgumentException for more than 36,500 days
     * @throws IllegalStateException if the database refuses a statement
     */
    public void advance(Duration time) {
        checked(time);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            String product = connection.getMetaData().getDatabaseProductName();
            String minus = minus(product, time);
            String prefix = PostriderTables.qualified(connection, schema, tablePrefix);
            bringNearer(statement, prefix, minus, now(product));
            shift(statement, prefix + "message", List.of("locked_until", "created_at", "updated_at"), minus);
            shift(statement, prefix + "archive", List.of("created_at", "delivered_at"), minus);
            shift(statement, prefix + "dedup", List.of("seen_at"), minus);
            shift(statement, prefix + "inbox_mark", List.of("seen_at"), minus);
            shift(statement, prefix + "lane", List.of("until"), minus);
            shift(statement, prefix + "node", List.of("until"), minus);
            shift(statement, prefix + "command", COMMAND_TIMES, minus);
            shift(statement, prefix + "sample", List.of("due_at", "taken_at"), minus);
            shift(statement, prefix + "operation", OPERATION_TIMES, minus);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Could not change the times of the rows", e);
        }
    }

    /**
     * Moves the delivery times of messages. A message that becomes due is due now and not in the past, as in reality: the scans of a
     * dispatcher do not start far in the past.
     */
    private static void bringNearer(Statement statement, String prefix, String minus, String now) throws SQLException {
        String nearer = minus.formatted("available_at");
        statement.executeUpdate("UPDATE " + prefix + "message SET available_at = CASE WHEN " + nearer + " > " + now
                + " THEN " + nearer + " ELSE " + now + " END WHERE available_at > " + now + " AND state <> 'PARKED'");
    }

    private static String now(String product) {
        return switch (product) {
            case "PostgreSQL" -> "clock_timestamp()";
            case "H2" -> "CURRENT_TIMESTAMP(6)";
            default -> "UTC_TIMESTAMP(6)";
        };
    }

    private static void shift(Statement statement, String table, List<String> columns, String minus)
            throws SQLException {
        List<String> assignments = columns.stream()
                .map(column -> column + " = " + minus.formatted(column))
                .toList();
        statement.executeUpdate("UPDATE " + table + " SET " + String.join(", ", assignments));
    }

    private static String minus(String product, Duration time) {
        long micros = time.toNanos() / 1000;
        return switch (product) {
            case "PostgreSQL" -> "%s - interval '" + micros + " microseconds'";
            case "H2" -> "DATEADD(MICROSECOND, -" + micros + ", %s)";
            default -> "%s - INTERVAL " + micros + " MICROSECOND";
        };
    }
}
