package dev.postrider.jdbc.inbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.Tables;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partitions of the inbox marks on PostgreSQL, one for each day. The time at the beginning of a version 7 id decides the day. A mark
 * is always in the partition of its id, whenever it is inserted, so that the primary key is unique over all partitions. Marks that belong
 * to no day, such as most ids of other versions, are in the default partition and are purged row by row. Immutable, thread-safe.
 */
public final class InboxPartitions {

    private static final Logger log = LoggerFactory.getLogger(InboxPartitions.class);

    /** How many days ahead partitions are created. If no node runs for longer, marks of the missing days use the default. */
    private static final int DAYS_AHEAD = 7;

    /** A transaction that waits for these locks blocks the transactions behind it. */
    private static final String SHORT_WAIT = "SET LOCAL lock_timeout = '1s'";

    private static final long MILLIS_PER_DAY = Duration.ofDays(1).toMillis();

    private static final String PARTITIONS =
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass(?)";

    private static final String TODAY = "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date";

    private static final String OLDEST_KEPT =
            "SELECT ((clock_timestamp() - ? * interval '1 microsecond') AT TIME ZONE 'UTC')::date";

    private static final String MOVE_IN = """
            WITH moved AS (DELETE FROM {inbox_mark_default} WHERE message_id >= '%s' AND message_id < '%s' RETURNING *)
            INSERT INTO %s (message_id, consumer, tenant, payload_hash, seen_at)
            SELECT message_id, consumer, tenant, payload_hash, seen_at FROM moved
            """;

    /** An id of another version may begin like a time of that day by chance. Its mark is not old and must be kept. */
    private static final String MOVE_OUT = """
            INSERT INTO {inbox_mark} (message_id, consumer, tenant, payload_hash, seen_at)
            SELECT message_id, consumer, tenant, payload_hash, seen_at FROM %s
            WHERE get_byte(uuid_send(message_id), 6) >> 4 <> 7
            """;

    private static final String RAISE_FLOOR = """
            INSERT INTO {inbox_floor} (floor) VALUES (?)
            ON CONFLICT (only_one) DO UPDATE SET floor = GREATEST({inbox_floor}.floor, excluded.floor)
            RETURNING floor
            """;

    /**
     * Makes the default partition refuse marks below the floor, whose own partition is dropped. A transaction at REPEATABLE READ may not
     * see the new floor, but this constraint applies to it, because constraints do not depend on the snapshot. Existing marks are not
     * checked.
     */
    private static final String REFUSE_BELOW = """
            ALTER TABLE {inbox_mark_default}
                DROP CONSTRAINT IF EXISTS %1$s,
                ADD CONSTRAINT %1$s CHECK (get_byte(uuid_send(message_id), 6) >> 4 <> 7 OR message_id >= '%2$s') NOT VALID
            """;

    private final SqlRunner sql;

    InboxPartitions(SqlRunner sql) {
        this.sql = sql;
    }

    public boolean exist(Connection connection) throws SQLException {
        return sql.query(connection, PARTITIONS, this::bindTable, rows -> rows.next());
    }

    /** Makes the table, with its marks, the default partition of a new table. Runs in a transaction of the caller. */
    public void introduce(Connection connection) throws SQLException {
        Tables tables = sql.tables();
        String marks = tables.qualified("inbox_mark");
        String rest = tables.qualified("inbox_mark_default");
        execute(connection, SHORT_WAIT, "LOCK TABLE " + marks + " IN ACCESS EXCLUSIVE MODE");
        if (exist(connection)) {
            return;
        }
        execute(
                connection,
                "ALTER TABLE " + marks + " RENAME TO " + tables.bare("inbox_mark_default"),
                "ALTER TABLE " + rest + " RENAME CONSTRAINT " + tables.bare("inbox_mark_pk") + " TO "
                        + tables.bare("inbox_mark_default_pk"),
                "ALTER INDEX " + tables.qualified("inbox_mark_seen") + " RENAME TO "
                        + tables.bare("inbox_mark_default_seen"),
                "CREATE TABLE " + marks + " (LIKE " + rest + " INCLUDING DEFAULTS, CONSTRAINT "
                        + tables.bare("inbox_mark_pk")
                        + " PRIMARY KEY (message_id, consumer, tenant)) PARTITION BY RANGE (message_id)",
                "CREATE INDEX " + tables.bare("inbox_mark_seen") + " ON " + marks + " (seen_at)",
                "ALTER TABLE " + marks + " ATTACH PARTITION " + rest + " DEFAULT");
        for (LocalDate day : missing(days(connection), today(connection))) {
            make(connection, day);
        }
    }

    /**
     * Creates and drops partitions, each in a transaction of its own.
     *
     * @param age marks older than this are dropped; empty to keep all
     * @return how many partitions were dropped
     */
    public int tend(Sessions sessions, Optional<Duration> age) {
        if (!sessions.statement("find the partitions of the inbox", this::exist)) {
            return 0;
        }
        List<LocalDate> missing = sessions.statement("list the days of the inbox", c -> missing(days(c), today(c)));
        for (LocalDate day : missing) {
            if (!ifNotInUse(sessions, "make", day, connection -> make(connection, day))) {
                break;
            }
        }
        return age.map(kept -> dropOlder(sessions, kept)).orElse(0);
    }

    /** Drops the oldest partition first, because a drop makes all ids before the end of its day refused. */
    private int dropOlder(Sessions sessions, Duration age) {
        List<LocalDate> old = sessions.statement("list the old days of the inbox", connection -> {
            LocalDate kept = date(connection, OLDEST_KEPT, binder -> binder.micros(age));
            return List.copyOf(days(connection).headSet(kept));
        });
        int dropped = 0;
        for (LocalDate day : old) {
            if (!ifNotInUse(sessions, "drop", day, connection -> drop(connection, day))) {
                break;
            }
            dropped++;
        }
        return dropped;
    }

    @FunctionalInterface
    private interface SchemaChange {
        void make(Connection connection) throws SQLException;
    }

    /**
     * Changes a partition unless the table is in use. Then the next round tries again, because waiting longer would block the consumers.
     *
     * @return whether the change was made
     */
    private static boolean ifNotInUse(Sessions sessions, String doing, LocalDate day, SchemaChange change) {
        return sessions.transaction(doing + " a day of the inbox", connection -> {
            try {
                execute(connection, SHORT_WAIT);
                change.make(connection);
                return true;
            } catch (SQLException e) {
                if (!SqlErrors.isConflict(e)) {
                    throw e;
                }
                connection.rollback();
                log.info("Could not {} the inbox partition of {}, which is in use; will retry later", doing, day);
                return false;
            }
        });
    }

    /**
     * Creates the partition of a day. Marks of that day may be in the default partition, from senders whose clocks are ahead. They move to
     * the new partition. The locks are taken in the same order as a consumer takes them.
     */
    private void make(Connection connection, LocalDate day) throws SQLException {
        String marks = sql.tables().qualified("inbox_mark");
        String rest = sql.tables().qualified("inbox_mark_default");
        execute(
                connection,
                "LOCK TABLE ONLY " + marks + " IN SHARE UPDATE EXCLUSIVE MODE",
                "LOCK TABLE " + rest + " IN ACCESS EXCLUSIVE MODE");
        if (days(connection).contains(day)) {
            return; // another node was faster
        }
        String partition = partition(day);
        execute(connection, "CREATE TABLE " + partition + " (LIKE " + rest + " INCLUDING DEFAULTS)");
        execute(connection, sql.sqlOnce(MOVE_IN).formatted(begin(day), begin(day.plusDays(1)), partition));
        execute(
                connection,
                "ALTER TABLE " + marks + " ATTACH PARTITION " + partition + " FOR VALUES FROM ('" + begin(day)
                        + "') TO ('" + begin(day.plusDays(1)) + "')");
    }

    private void drop(Connection connection, LocalDate day) throws SQLException {
        String marks = sql.tables().qualified("inbox_mark");
        execute(connection, "LOCK TABLE ONLY " + marks + " IN ACCESS EXCLUSIVE MODE");
        if (!days(connection).contains(day)) {
            return;
        }
        String partition = partition(day);
        execute(connection, "ALTER TABLE " + marks + " DETACH PARTITION " + partition);
        execute(connection, sql.sqlOnce(MOVE_OUT).formatted(partition));
        UUID floor = sql.query(connection, RAISE_FLOOR, binder -> binder.uuid(begin(day.plusDays(1))), row -> {
            row.next();
            return sql.readUuid(row, 1);
        });
        execute(
                connection,
                sql.sqlOnce(REFUSE_BELOW).formatted(sql.tables().bare("inbox_mark_floor"), floor),
                "DROP TABLE " + partition);
    }

    private SortedSet<LocalDate> days(Connection connection) throws SQLException {
        String prefix = sql.tables().bare("inbox_mark_d");
        return sql.query(connection, PARTITIONS, this::bindTable, rows -> {
            SortedSet<LocalDate> days = new TreeSet<>();
            while (rows.next()) {
                String name = rows.getString(1);
                if (name.startsWith(prefix) && name.substring(prefix.length()).matches("\\d{8}")) {
                    days.add(LocalDate.parse(name.substring(prefix.length()), DateTimeFormatter.BASIC_ISO_DATE));
                }
            }
            return days;
        });
    }

    private static List<LocalDate> missing(Set<LocalDate> days, LocalDate today) {
        List<LocalDate> missing = new ArrayList<>();
        for (int ahead = 1; ahead <= DAYS_AHEAD; ahead++) {
            if (!days.contains(today.plusDays(ahead))) {
                missing.add(today.plusDays(ahead));
            }
        }
        return missing;
    }

    private LocalDate today(Connection connection) throws SQLException {
        return date(connection, TODAY, binder -> {});
    }

    private LocalDate date(Connection connection, String select, SqlRunner.Bind bind) throws SQLException {
        return sql.query(connection, select, bind, row -> {
            row.next();
            return row.getObject(1, LocalDate.class);
        });
    }

    private void bindTable(Binder binder) throws SQLException {
        binder.text(sql.tables().qualified("inbox_mark"));
    }

    private String partition(LocalDate day) {
        return sql.tables().qualified("inbox_mark_d" + day.format(DateTimeFormatter.BASIC_ISO_DATE));
    }

    /** The lowest id of the day: an id of version 7 begins with 48 bits of milliseconds. */
    private static UUID begin(LocalDate day) {
        return new UUID((day.toEpochDay() * MILLIS_PER_DAY) << 16, 0);
    }

    private static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
