package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.CommandId;
import dev.postrider.store.CommandRecord;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one database and their order. Every statement that changes a message checks the state or the lease token of the
 * message, and its result says which rows it changed. Immutable, thread-safe.
 */
abstract class Dialect {

    private static final Pattern DELETE_BY_KEY = Pattern.compile("\\{delete (\\w+)}");

    private static final String FIND_TOPIC =
            "SELECT id, lanes, tenant_prefixed_keys, removed_at FROM {topic} WHERE namespace = ? AND topic = ?";

    private static final String TAKE_BACK_MARK =
            "DELETE FROM {dedup} WHERE topic_id = ? AND key_hash = ? AND message_id = ?";

    private static final String TAKE_BACK_MESSAGE = "DELETE FROM {message} WHERE id = ?";

    private final Tables tables;

    /** Bounded by the number of statements in this package: the keys are constants, with lists of values in a few lengths. */
    private final Map<String, String> rendered = new ConcurrentHashMap<>();

    Dialect(Tables tables) {
        this.tables = tables;
    }

    /** @throws InvalidConfigurationException for an unsupported database, or a version that is too old */
    static Dialect of(DatabaseMetaData server, JdbcOptions options) throws SQLException {
        String product = server.getDatabaseProductName();
        String version = server.getDatabaseProductVersion();
        return switch (product) {
            case "PostgreSQL" -> atLeast(13, 0, server, new PostgresDialect(new Tables(options, "\"")));
            case "MariaDB" -> atLeast(10, 6, server, mariaDb(server, options));
            // MySQL's own driver reports a MariaDB server as MySQL. The version text shows the difference.
            case "MySQL" ->
                version.contains("MariaDB")
                        ? atLeast(10, 6, server, mariaDb(server, options))
                        : atLeast(8, 0, server, mySql(version, options));
            case "H2" -> atLeast(2, 2, server, new H2Dialect(new Tables(options, "")));
            default ->
                throw new InvalidConfigurationException(
                        "db.url",
                        "leads to " + product + ", but Postrider works with PostgreSQL, MySQL, MariaDB and H2");
        };
    }

    private static Dialect mariaDb(DatabaseMetaData server, JdbcOptions options) throws SQLException {
        return new MariaDbDialect(new Tables(options, "`"), server.getDriverName());
    }

    /** MySQL 8.0.17 introduced the collation that compares byte by byte, including trailing blanks. */
    private static Dialect mySql(String version, JdbcOptions options) {
        if (version.matches("8\\.0\\.(\\d|1[0-6])(\\D.*)?")) {
            throw new InvalidConfigurationException(
                    "db.url", "leads to MySQL " + version + ", but at least 8.0.17 is needed");
        }
        return new MySqlDialect(new Tables(options, "`"));
    }

    private static Dialect atLeast(int major, int minor, DatabaseMetaData server, Dialect dialect) throws SQLException {
        int found = server.getDatabaseMajorVersion();
        if (found < major || (found == major && server.getDatabaseMinorVersion() < minor)) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "leads to " + server.getDatabaseProductName() + " " + server.getDatabaseProductVersion()
                            + ", but at least " + major + "." + minor + " is needed");
        }
        return dialect;
    }

    /** Returns the dialect of the same database that names the tables of the given schema in full. */
    abstract Dialect in(String schema);

    /** Finds a registered topic, including one that was removed. */
    Optional<Topics.Topic> findTopic(Connection connection, TopicName name) throws SQLException {
        return query(
                connection,
                FIND_TOPIC,
                binder -> binder.text(name.namespace()).text(name.topic()),
                row -> row.next()
                        ? Optional.of(new Topics.Topic(
                                row.getInt(1), row.getInt(2), row.getBoolean(3), readTime(row, "removed_at") != null))
                        : Optional.empty());
    }

    /**
     * The statements of ordered topics.
     *
     * @param lockTimeout how long a statement that is a transaction of its own may wait for a lock; {@link Sessions} limits the others
     */
    abstract LaneStatements lanes(Duration lockTimeout);

    /** The SQL expression for the id of the session that runs it. */
    abstract String sessionId();

    /** The statements of the inbox. */
    abstract InboxStatements inbox();

    /** The folder of the schema files. */
    abstract String folder();

    /** The SQL expression for the current time, used as {@code {now}}. */
    abstract String now();

    /** The SQL expression for a time after now, used as {@code {later}}. Its one parameter is a number of microseconds. */
    abstract String later();

    /** The SQL expression for a time before now, used as {@code {ago}}. Its one parameter is a number of microseconds. */
    abstract String ago();

    // Ids and times use the types of JDBC, where the database has such types

    void bindUuid(PreparedStatement statement, int index, UUID value) throws SQLException {
        statement.setObject(index, value);
    }

    final UUID readUuid(ResultSet row, String column) throws SQLException {
        return readUuid(row, row.findColumn(column));
    }

    UUID readUuid(ResultSet row, int column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    void bindTime(PreparedStatement statement, int index, Instant value) throws SQLException {
        statement.setObject(index, value.atOffset(ZoneOffset.UTC));
    }

    final @Nullable Instant readTime(ResultSet row, String column) throws SQLException {
        return readTime(row, row.findColumn(column));
    }

    @Nullable
    Instant readTime(ResultSet row, int column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    /** The clause that makes a SELECT lock its rows against deletion until the transaction ends. */
    abstract String existenceLock();

    // Writing, on the caller's connection

    /**
     * Whether {@link Connection#isReadOnly} costs a round trip to the server with the driver of this database. Then it is called only
     * after a failed write: the server or the driver refuses the write anyway, and a round trip for every message costs too much.
     */
    boolean asksServerIfReadOnly() {
        return false;
    }

    /**
     * Inserts the rows and their marks in the given order. A row whose key or id exists already is left out, and so is its mark.
     *
     * @param rows two rows with the same id are the same message
     * @param leasedInsert the rows to insert under a lease unless their topic is paused; records the rows that were
     * @return the ids of the inserted rows
     */
    abstract Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException;

    /** Finds the first use of each of these idempotency keys. A key that became free meanwhile is not in the result. */
    abstract Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks)
            throws SQLException;

    /**
     * The properties that show whether a live message and a new message with the same id are the same message.
     *
     * @param key the idempotency key
     */
    record LiveMessage(
            int topicId, @Nullable String tenant, @Nullable String key, Payload payload) {

        static LiveMessage of(NewRow row) {
            Message message = row.message();
            return new LiveMessage(row.topicId(), message.tenant(), message.idempotencyKey(), message.payload());
        }

        boolean samePayload(LiveMessage other) {
            return Arrays.equals(payload.bytes(), other.payload.bytes());
        }

        /** An idempotency key identifies its message, whatever the payload. Without a key the payloads must be equal. */
        boolean isSameMessage(LiveMessage other) {
            return topicId == other.topicId
                    && Objects.equals(tenant, other.tenant)
                    && Objects.equals(key, other.key)
                    && (key != null || samePayload(other));
        }
    }

    /** Finds the live messages with these ids. */
    abstract Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException;

    /** Deletes marks that this transaction inserted and that have no message. If that fails, the transaction is rolled back. */
    final void takeBackMarks(Connection connection, Collection<NewRow> rows) throws SQLException {
        try {
            for (NewRow row : rows) {
                takeBackMark(connection, row);
            }
        } catch (SQLException | RuntimeException | Error e) {
            Sessions.rollback(connection, e);
            throw e;
        }
    }

    final void takeBackMark(Connection connection, NewRow row) throws SQLException {
        NewRow.Mark mark = row.requireMark();
        int met = update(
                connection,
                TAKE_BACK_MARK,
                binder -> binder.integer(mark.topicId).bytes(mark.keyHash).uuid(row.id()));
        LockingDialect.expect(1, met, "delete an idempotency key without a message");
    }

    /** Deletes a message that this transaction inserted, and its mark. */
    final void takeBack(Connection connection, NewRow row) throws SQLException {
        int met = update(connection, TAKE_BACK_MESSAGE, binder -> binder.uuid(row.id()));
        LockingDialect.expect(1, met, "delete a message of this transaction");
        if (row.mark() != null) {
            takeBackMark(connection, row);
        }
    }

    /** Whether a failed statement aborts its transaction, so that only a rollback is possible. */
    boolean errorEndsTransaction() {
        return false;
    }

    // Claiming

    /** The statements of user code before which the database commits. */
    TransactionEnd.ImplicitCommits implicitCommits() {
        return TransactionEnd.ImplicitCommits.NONE;
    }

    /** Returns a new proof for one transaction with user code. */
    TransactionProof transactionProof() {
        return new TransactionProof.BySavepoint();
    }

    /** Whether every claim and every outcome is a single statement, which needs no transaction around it. */
    abstract boolean worksInSingleStatements();

    /**
     * The due messages that were claimed, in the order of their due times.
     *
     * @param sight null if no message was due, or if the database does not provide it
     */
    record Due(List<ClaimedRow> rows, DueScanStart.@Nullable Sight sight) {}

    /** Claims due messages. The scan starts at the due time {@code from}. */
    abstract Due claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException;

    /** Claims messages whose lease ended at most {@code span} ago. A database that gains nothing by this limit ignores it. */
    abstract List<ClaimedRow> claimExpired(
            Connection connection, int topicId, ClaimRequest request, UUID token, Duration span) throws SQLException;

    // Outcomes of many claims at once. Each method returns the rows that were still leased under their tokens. None
    // waits for a locked row: such a row is left out.

    abstract Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, JdbcOptions.Archive archive)
            throws SQLException;

    abstract Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException;

    abstract Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException;

    abstract Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException;

    abstract Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException;

    /**
     * Releases all messages that are leased under the token, for a claim that got no answer.
     *
     * @return how many messages were released
     */
    abstract int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException;

    /** Finds the rows that are leased under their tokens, including rows that an outcome skipped because they are locked. */
    abstract Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException;

    /** Finds the rows with these numbers that are still in the table. Returns their ids by number. */
    abstract Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException;

    // Handling: the transaction of a handler removes its rows

    /**
     * Locks the rows that are still available and that no other transaction has locked.
     *
     * @param idle how long the transaction may be idle before the server ends it, where the database can do so: the process may be frozen
     */
    abstract LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException;

    /** Removes the rows that are still available and that no other transaction has locked. */
    abstract RemovedRows removeHandled(
            Connection connection, List<HandledRow> rows, JdbcOptions.Archive archive, Duration idle)
            throws SQLException;

    /** Finds the numbers of the rows that are still available, locked or not. */
    abstract Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException;

    /**
     * Ends a session of this store at the server, with its transaction and its running statement. A server does not notice the loss of
     * its client while it runs a statement, so the locks would stay.
     */
    abstract void endSession(Connection connection, ServerSession session) throws SQLException;

    /**
     * A session at the server.
     *
     * @param transaction its current transaction; empty where a session never runs the transaction of another client
     */
    record ServerSession(long id, String transaction) {}

    /** The numbers of the locked rows, and the session that locked them; the session is null when no row was found. */
    record LockedRows(Set<Long> seqs, @Nullable ServerSession session) {}

    /** The number of removed rows, and the session that removed them; the session is null when no row was found. */
    record RemovedRows(int count, @Nullable ServerSession session) {}

    /** Does the same as {@link #present}, after all transactions that are changing these rows have ended. */
    abstract Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException;

    // Expired leases and due times

    /**
     * Buries messages whose lease ended during the last attempt, at most {@code span} ago. A database that gains nothing by this limit
     * ignores it.
     */
    abstract int sweep(
            Connection connection, int topicId, int maxAttempts, DeathRecord epitaph, Duration span, int limit)
            throws SQLException;

    /**
     * The start of a search for the next due time.
     *
     * @param span how long ago the first lease that matters may have ended; null when the search leaves out leases
     */
    record Peek(Instant from, @Nullable Duration span) {}

    /** The time until the first message is due, and until the first lease ends; null if there is none. */
    record Prospect(@Nullable Duration pending, @Nullable Duration leased) {}

    /** Finds when each topic has a message to claim. Paused topics are left out. */
    abstract Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException;

    /** Reads a result of {@link #nextDue}, which is in microseconds. */
    static Prospect prospect(ResultSet row) throws SQLException {
        return new Prospect(microsOrNone(row, "pending"), microsOrNone(row, "leased"));
    }

    private static @Nullable Duration microsOrNone(ResultSet row, String column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
    }

    // Purges of rows older than the age. A span leaves out rows that reached this age longer ago than the span

    abstract int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    abstract int purgeDead(Connection connection, Duration age, int limit) throws SQLException;

    abstract int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    /** Rebuilds indexes that have outgrown their table, on databases that need it. */
    boolean rebuildIndexes(Sessions sessions) {
        return false;
    }

    // Commands

    /**
     * Inserts the row of a command unless the row exists. An existing row is not an error. Runs in a transaction: its writes may still be
     * rolled back, and its snapshot may be older than the newest row.
     *
     * @return the row, new or existing, if the statement returns it; empty when it must be read
     */
    abstract Optional<CommandRecord> insertCommand(Connection connection, Bind bind) throws SQLException;

    /**
     * Does the same by a statement that is a transaction of its own.
     *
     * @param lockTimeout how long the statement may wait for a lock, where {@link Sessions#limited} does not limit it
     */
    abstract Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, Bind bind, Duration lockTimeout) throws SQLException;

    /** Runs statements that wait at most this long for a lock, and restores the session afterwards. */
    abstract <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException;

    /** Creates the limit for idle transactions. May read the limits that the server has by default. */
    IdleLimit idleLimit(Connection connection) throws SQLException {
        return new IdleLimit.None();
    }

    /** The clause that makes a SELECT read the newest committed row, also in a transaction with an older snapshot. */
    String newestRead() {
        return "";
    }

    // Schema

    /** The statements that read the description of a table. */
    abstract Catalog.Questions catalogQuestions();

    /**
     * Finds the name of the schema that contains the tables, or in which they would be created; empty if there is none.
     *
     * @param configured the configured schema; null for the schema in which the connection finds the tables
     */
    abstract Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException;

    /** The statement that returns a row if a schema exists. Its one parameter is the name of the schema. */
    abstract String schemaQuery();

    /**
     * Refuses a connection that would change values on the way to the server, for example one that loses characters.
     *
     * @throws InvalidConfigurationException naming the fix
     */
    void checkConnection(Connection connection) throws SQLException {}

    /**
     * Finds the privileges that the user lacks, each with its table, as {@code SELECT on postrider_message}. Ignores missing tables.
     *
     * @param columns the tables, each with one of its columns
     */
    abstract List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException;

    /**
     * Runs the migration under a lock, so that one process at a time migrates.
     *
     * @param schema the schema of the tables, as {@link #schemaOfTables} returns it
     */
    abstract void migrate(Connection connection, String schema, Migration migration) throws SQLException;

    /** Refuses an unusable server: a standby, an encoding that loses characters, a sequence that caches numbers. */
    abstract void checkServer(Connection connection) throws SQLException;

    @FunctionalInterface
    interface Migration {
        void run(Connection connection) throws SQLException;
    }

    /** A row and the token of its lease. Only both together identify a claim of the row. */
    record LeasedRow(long seq, UUID token) {}

    /**
     * A row to be handled. The row is available while it has this id, this token (none for a row of a lane) and one of these states.
     */
    record HandledRow(long seq, UUID id, @Nullable UUID token, Set<String> states) {}

    /** A message whose delivery failed, to be attempted again after the delay. */
    record Rescheduled(LeasedRow row, Duration delay, String error) {}

    /** The reason, the error text and the error fingerprint of a dead letter. */
    record DeathRecord(String reason, String error, String fingerprint) {}

    record BuriedRow(LeasedRow row, DeathRecord epitaph) {}

    final Tables tables() {
        return tables;
    }

    /**
     * Returns the statement with the table names of this installation and the time expressions of this database. Statements that select
     * many rows by primary key contain {@code {by key}} after the table, or {@code {delete message}} for a DELETE. These make the database
     * use the primary key. Otherwise it may read all of a small table, including rows that other transactions have locked.
     */
    final String sql(String statement) {
        return rendered.computeIfAbsent(statement, this::sqlOnce);
    }

    /** Does the same as {@link #sql} without a cache, for a text that is rarely used again. */
    final String sqlOnce(String statement) {
        return tables.sql(DELETE_BY_KEY
                .matcher(statement)
                .replaceAll(deleteByKey())
                .replace("{by key}", byKey())
                .replace("{now}", now())
                .replace("{later}", later())
                .replace("{ago}", ago()));
    }

    /** The clause after a table that makes the database use the primary key, whatever the statistics say. */
    String byKey() {
        return "";
    }

    /** The beginning of a DELETE from the table {@code $1} that uses the primary key. */
    String deleteByKey() {
        return "DELETE FROM {$1}";
    }

    final Binder bind(PreparedStatement statement) {
        return new Binder(this, statement);
    }

    @FunctionalInterface
    interface Bind {
        void to(Binder binder) throws SQLException;
    }

    @FunctionalInterface
    interface Read<T> {
        T from(ResultSet rows) throws SQLException;
    }

    /** Runs a statement that changes rows. Returns how many rows it changed. */
    final int update(Connection connection, String statement, Bind bind) throws SQLException {
        try (PreparedStatement prepared = GuardedConnection.target(connection).prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            return prepared.executeUpdate();
        } catch (SQLException e) {
            throw reported(connection, e);
        }
    }

    /** Reports an error to the guard of a unit of work, because statements of this package bypass the guard. */
    private static SQLException reported(Connection connection, SQLException failure) {
        if (connection instanceof GuardedConnection guarded) {
            guarded.failed(failure);
        }
        return failure;
    }

    /** Runs a statement that returns rows. */
    final <T> T query(Connection connection, String statement, Bind bind, Read<T> read) throws SQLException {
        try (PreparedStatement prepared = GuardedConnection.target(connection).prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                return read.from(rows);
            }
        } catch (SQLException e) {
            throw reported(connection, e);
        }
    }

    // Readers of result sets

    static LockedRows lockedRows(ResultSet rows) throws SQLException {
        Set<Long> numbers = new TreeSet<>();
        ServerSession session = null;
        while (rows.next()) {
            numbers.add(rows.getLong("seq"));
            session = serverSession(rows);
        }
        return new LockedRows(numbers, session);
    }

    static ServerSession serverSession(ResultSet row) throws SQLException {
        return new ServerSession(row.getLong("session_id"), row.getString("session_transaction"));
    }

    static Set<Long> numbers(ResultSet rows) throws SQLException {
        Set<Long> numbers = new TreeSet<>();
        while (rows.next()) {
            numbers.add(rows.getLong("seq"));
        }
        return numbers;
    }

    /** Reads the ids of inserted rows. A row that was inserted under a lease (local hand-over) comes with its number. */
    final Set<UUID> idsAndLeases(ResultSet rows, LeasedInsert leasedInsert) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(readWritten(rows, leasedInsert));
        }
        return ids;
    }

    final UUID readWritten(ResultSet row, @Nullable LeasedInsert leasedInsert) throws SQLException {
        UUID id = readUuid(row, "id");
        if (leasedInsert != null) {
            long seq = row.getLong("seq");
            if (!row.wasNull()) {
                leasedInsert.inserted(id, seq);
            }
        }
        return id;
    }

    final Map<UUID, LiveMessage> liveMessages(ResultSet rows) throws SQLException {
        Map<UUID, LiveMessage> live = new HashMap<>();
        while (rows.next()) {
            live.put(
                    readUuid(rows, "id"),
                    new LiveMessage(
                            rows.getInt("topic_id"),
                            rows.getString("tenant"),
                            rows.getString("idempotency_key"),
                            Payload.of(rows.getBytes("payload"), Payload.BINARY)));
        }
        return live;
    }

    final Set<LeasedRow> leasedRows(ResultSet rows) throws SQLException {
        Set<LeasedRow> held = new HashSet<>();
        while (rows.next()) {
            held.add(new LeasedRow(rows.getLong("seq"), readUuid(rows, "lease_token")));
        }
        return held;
    }

    final Set<UUID> ids(ResultSet rows) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(readUuid(rows, "id"));
        }
        return ids;
    }

    final Map<Long, UUID> numbersWithIds(ResultSet rows) throws SQLException {
        Map<Long, UUID> ids = new HashMap<>();
        while (rows.next()) {
            ids.put(rows.getLong("seq"), readUuid(rows, "id"));
        }
        return ids;
    }

    /** Reads claimed rows and sorts them by due time: no database guarantees the order of returned rows. */
    final List<ClaimedRow> claimedRows(ResultSet rows) throws SQLException {
        return rows.next() ? claimedRowsOn(rows) : List.of();
    }

    /** Does the same, starting with the current row of the result set. */
    final List<ClaimedRow> claimedRowsOn(ResultSet rows) throws SQLException {
        List<ClaimedRow> claimed = ClaimedRow.readOn(rows, this);
        claimed.sort(ClaimedRow.BY_DUE_TIME);
        return claimed;
    }

    final Map<NewRow.Mark, FirstUse> firstUses(ResultSet rows) throws SQLException {
        Map<NewRow.Mark, FirstUse> first = new HashMap<>();
        while (rows.next()) {
            NewRow.Mark mark =
                    new NewRow.Mark(rows.getInt("topic_id"), rows.getBytes("key_hash"), rows.getBytes("payload_hash"));
            first.put(mark, new FirstUse(new MessageId(readUuid(rows, "message_id")), mark));
        }
        return first;
    }
}
