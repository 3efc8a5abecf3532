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
 * Lets time pass for everything Postrider keeps in a database, in an instant: leases run out, retries and scheduled messages
 * come due, rows grow old. It moves the rows back rather than the clock forward, since the only clock that counts is the
 * database's own. Thread-safe.
 */
public final class DatabaseClock {

    private static final List<String> COMMAND_TIMES =
            List.of("lease_until", "created_at", "updated_at", "completed_at", "result_expires_at", "key_expires_at");

    private final DataSource dataSource;
    private final String tablePrefix;

    public DatabaseClock(DataSource dataSource) {
        this(dataSource, "postrider_");
    }

    public DatabaseClock(DataSource dataSource, String tablePrefix) {
        this(dataSource, null, tablePrefix);
    }

    /** @param schema as in {@code JdbcOptions}: null for the connection's own */
    public DatabaseClock(DataSource dataSource, @Nullable String schema, String tablePrefix) {
        this.dataSource = dataSource;
        this.tablePrefix = PostriderTables.qualified(schema, tablePrefix);
    }

    /**
     * A new id of version 7 with the time so long ago by this machine's clock: that of a message, or of a command's key, which was
     * made then. {@link #advance} does not change ids, because an id says by itself when it was made.
     */
    public static MessageId idOfAge(Duration age) {
        UUID now = MessageId.next().value();
        long millis = System.currentTimeMillis() - age.toMillis();
        long high = (millis << 16) | (now.getMostSignificantBits() & 0xFFFF);
        return new MessageId(new UUID(high, now.getLeastSignificantBits()));
    }

    public void advance(Duration time) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            String product = connection.getMetaData().getDatabaseProductName();
            String minus = minus(product, time);
            bringNearer(statement, minus, now(product));
            shift(statement, "message", List.of("locked_until", "created_at", "updated_at"), minus);
            shift(statement, "archive", List.of("created_at", "delivered_at"), minus);
            shift(statement, "dedup", List.of("seen_at"), minus);
            shift(statement, "inbox_mark", List.of("seen_at"), minus);
            shift(statement, "lane", List.of("until"), minus);
            shift(statement, "node", List.of("until"), minus);
            shift(statement, "command", COMMAND_TIMES, minus);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Could not move the rows' times", e);
        }
    }

    /** What comes due comes due now and not in the past, as it would have: a dispatcher does not look far behind itself. */
    private void bringNearer(Statement statement, String minus, String now) throws SQLException {
        String nearer = minus.formatted("available_at");
        statement.executeUpdate("UPDATE " + tablePrefix + "message SET available_at = CASE WHEN " + nearer + " > " + now
                + " THEN " + nearer + " ELSE " + now + " END WHERE available_at > " + now + " AND state <> 'PARKED'");
    }

    private static String now(String product) {
        return switch (product) {
            case "PostgreSQL" -> "clock_timestamp()";
            case "H2" -> "CURRENT_TIMESTAMP(6)";
            default -> "UTC_TIMESTAMP(6)";
        };
    }

    private void shift(Statement statement, String table, List<String> columns, String minus) throws SQLException {
        List<String> assignments = columns.stream()
                .map(column -> column + " = " + minus.formatted(column))
                .toList();
        statement.executeUpdate("UPDATE " + tablePrefix + table + " SET " + String.join(", ", assignments));
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
