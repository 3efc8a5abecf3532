package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.jdbc.sql.InsertTexts;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Inserts on MySQL and MariaDB. Their statements do not return the changed rows, so marks and messages are written by several statements
 * ({@link InnoDbInsert}). H2 runs the same statements, except those for marks. In braces: table names, {@code {rows}} for rows of
 * parameters, {@code {values}} for a list of parameters, and {@code {by key}} as in {@link DatabaseKind#spelled}.
 */
class InnoDbInserts implements InsertStatements {

    static final String INSERT = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, available_at, created_at)
            VALUES {rows}
            """;

    static final String INSERT_ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))";

    /** A message with a delivery time. In a lane it has a state of its own. */
    static final String INSERT_SCHEDULED_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND COALESCE(?, UTC_TIMESTAMP(6)) > UTC_TIMESTAMP(6) THEN 'SCHEDULED' ELSE 'PENDING' END,
             GREATEST(COALESCE(?, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6))
            """;

    /** For MySQL and MariaDB. IGNORE hides only duplicate keys here: every column has a fixed size, and no value can be null. */
    static final String INSERT_MARKS =
            "INSERT IGNORE INTO {dedup} (topic_id, key_hash, message_id, payload_hash, seen_at) VALUES {rows}";

    static final String MARK_ROW = "(?, ?, ?, ?, UTC_TIMESTAMP(6))";

    /** The INSERT for local hand-over: each row is inserted either with a lease of this node or without a lease. */
    static final String INSERT_LEASED = """
            INSERT INTO {message} (id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, attributes,
                                   lane, state, available_at, created_at, lease_token, locked_by, locked_until)
            VALUES {rows}
            """;

    static final String INSERT_LEASED_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PROCESSING', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?, ?,
               UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
            """;

    static final String INSERT_UNLEASED_ROW =
            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), NULL, NULL, NULL)";

    static final String INSERT_UNLEASED_SCHEDULED_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND COALESCE(?, UTC_TIMESTAMP(6)) > UTC_TIMESTAMP(6) THEN 'SCHEDULED' ELSE 'PENDING' END,
             GREATEST(COALESCE(?, UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6)), UTC_TIMESTAMP(6), NULL, NULL, NULL)
            """;

    static final String PAUSED = "SELECT id FROM {topic} WHERE paused AND id IN ({values})";

    static final String NUMBERS = "SELECT seq, id FROM {message} WHERE id IN ({values})";

    static final String LIVE_IDS = "SELECT id FROM {message} WHERE id IN ({values})";

    static final String FIRST_USES =
            "SELECT * FROM {dedup} FORCE INDEX (PRIMARY) WHERE topic_id = ? AND key_hash IN ({values})";

    static final String LIVE =
            "SELECT id, topic_id, tenant, idempotency_key, payload, attributes FROM {message} WHERE id IN ({values})";

    /** The number of rows from which a batch is faster in spite of its savepoint. */
    private static final int BATCHED_ROWS = 16;

    final SqlRunner sql;
    private final InsertTexts texts;
    private final boolean batchesAtOnce;

    /** @param batchesAtOnce whether the JDBC driver sends a batch at once, and not row by row */
    InnoDbInserts(SqlRunner sql, boolean batchesAtOnce) {
        this.sql = sql;
        this.texts = new InsertTexts(sql);
        this.batchesAtOnce = batchesAtOnce;
    }

    @Override
    public Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        return new InnoDbInsert(this, connection, leasedInsert).insert(rows);
    }

    /**
     * Inserts the marks that do not exist yet and returns their number. Every transaction inserts marks in the same order, which
     * prevents deadlocks: this method keeps the given order.
     */
    int insertMarks(Connection connection, List<NewRow> rows) throws SQLException {
        String insert = texts.withRows(INSERT_MARKS, MARK_ROW, rows.size());
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            Binder binder = sql.bind(statement);
            for (NewRow row : rows) {
                row.bindMark(binder);
            }
            return statement.executeUpdate();
        }
    }

    /** Inserts all rows in their order. If it fails, no row is inserted. */
    void insertRows(Connection connection, Collection<NewRow> rows) throws SQLException {
        if (rows.stream().anyMatch(NewRow::isScheduled)) {
            insertScheduled(connection, rows);
            return;
        }
        if (batchesAtOnce && rows.size() >= BATCHED_ROWS) {
            insertBatched(connection, rows);
            return;
        }
        insertAtOnce(connection, texts.withRows(INSERT, INSERT_ROW, rows.size()), rows);
    }

    /** Inserts rows of which some have a delivery time. */
    private void insertScheduled(Connection connection, Collection<NewRow> rows) throws SQLException {
        String values = rows.stream()
                .map(row -> row.isScheduled() ? INSERT_SCHEDULED_ROW : INSERT_ROW)
                .collect(Collectors.joining(", "));
        insertAtOnce(connection, sql.sqlOnce(INSERT.replace("{rows}", values)), rows);
    }

    private void insertAtOnce(Connection connection, String insert, Collection<NewRow> rows) throws SQLException {
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            Binder binder = sql.bind(statement);
            for (NewRow row : rows) {
                bind(binder, row);
            }
            SqlRunner.expect(rows.size(), statement.executeUpdate(), "insert messages");
        }
    }

    /** Binds the columns of a row, and for a row with a delivery time also whether it is in a lane, and twice that time. */
    private static void bind(Binder binder, NewRow row) throws SQLException {
        row.bind(binder);
        if (row.isScheduled()) {
            Instant deliverAt = row.message().deliverAt();
            binder.flag(row.lane() != null).time(deliverAt).time(deliverAt);
        }
    }

    /** Uses a batch, which takes a third of the time of one long statement. The driver may split the batch, hence the savepoint. */
    private void insertBatched(Connection connection, Collection<NewRow> rows) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try {
            insertBatch(connection, rows);
            connection.releaseSavepoint(savepoint);
        } catch (Throwable e) {
            Sessions.rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    private void insertBatch(Connection connection, Collection<NewRow> rows) throws SQLException {
        String insert = texts.withRows(INSERT, INSERT_ROW, 1);
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            for (NewRow row : rows) {
                row.bind(sql.bind(statement));
                statement.addBatch();
            }
            for (int count : statement.executeBatch()) {
                if (count != 1 && count != Statement.SUCCESS_NO_INFO) {
                    throw new SQLException("Could not insert a message: expected 1 row but changed " + count);
                }
            }
        }
    }

    /**
     * Inserts rows, some of them under a lease.
     *
     * @param inserted the rows to insert under the lease
     */
    void insertLeased(Connection connection, Collection<NewRow> rows, LeasedInsert leases, List<NewRow> inserted)
            throws SQLException {
        Set<NewRow> leased = new HashSet<>(inserted);
        String values = rows.stream()
                .map(row -> leased.contains(row)
                        ? INSERT_LEASED_ROW
                        : row.isScheduled() ? INSERT_UNLEASED_SCHEDULED_ROW : INSERT_UNLEASED_ROW)
                .collect(Collectors.joining(", "));
        String insert = sql.sqlOnce(INSERT_LEASED.replace("{rows}", values));
        try (PreparedStatement statement =
                GuardedConnection.target(connection).prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
            Binder binder = sql.bind(statement);
            for (NewRow row : rows) {
                bind(binder, row);
                if (leased.contains(row)) {
                    leases.bindLease(binder);
                }
            }
            SqlRunner.expect(rows.size(), statement.executeUpdate(), "insert messages");
            if (rows.size() == 1) {
                leases.inserted(inserted.get(0).id(), generatedNumber(statement));
            } else {
                numbers(connection, inserted).forEach((seq, id) -> leases.inserted(id, seq));
            }
        }
    }

    private static long generatedNumber(PreparedStatement statement) throws SQLException {
        try (ResultSet keys = statement.getGeneratedKeys()) {
            if (!keys.next()) {
                throw new SQLException("The driver did not return the generated number of the message");
            }
            return keys.getLong(1);
        }
    }

    /**
     * Reads the numbers of inserted rows. Drivers differ in the generated keys that they return for several rows. A snapshot at REPEATABLE
     * READ can still have the deleted row of a message that is staged again, and a search by id returns only that one.
     */
    private Map<Long, UUID> numbers(Connection connection, List<NewRow> rows) throws SQLException {
        List<UUID> ids = rows.stream().map(NewRow::id).toList();
        return sql.query(
                connection,
                ValueList.in(NUMBERS + sql.kind().newestRead(), ids.size()),
                binder -> ValueList.bindUuids(binder, ids),
                sql::numbersWithIds);
    }

    /** Returns the ids of these that live messages have. */
    Set<UUID> liveIds(Connection connection, Set<UUID> ids) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(LIVE_IDS + sql.kind().newestRead(), ids.size()),
                binder -> ValueList.bindUuids(binder, ids),
                sql::ids);
    }

    /** Returns the topics of these that are paused. A query inside the INSERT would lock the topic's row until the commit. */
    Set<Integer> paused(Connection connection, List<Integer> topics) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(PAUSED, topics.size()),
                binder -> ValueList.bindIntegers(binder, topics),
                InnoDbInserts::topicNumbers);
    }

    private static Set<Integer> topicNumbers(ResultSet rows) throws SQLException {
        Set<Integer> numbers = new HashSet<>();
        while (rows.next()) {
            numbers.add(rows.getInt("id"));
        }
        return numbers;
    }

    @Override
    public Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks)
            throws SQLException {
        Map<NewRow.Mark, FirstUse> found = new HashMap<>();
        for (Map.Entry<Integer, List<NewRow.Mark>> topic :
                NewRow.Mark.byTopic(marks).entrySet()) {
            String select = ValueList.in(
                    FIRST_USES + sql.kind().newestRead(), topic.getValue().size());
            found.putAll(sql.query(
                    connection,
                    select,
                    binder -> NewRow.Mark.bindAll(binder, topic),
                    rows -> FirstUse.read(rows, sql)));
        }
        return found;
    }

    @Override
    public Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(LIVE + sql.kind().newestRead(), ids.size()),
                binder -> ValueList.bindUuids(binder, ids),
                rows -> LiveMessage.read(rows, sql));
    }
}
