package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.MessageId;
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
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One database: its statements, written whole, and the order in which it wants them. Every statement that changes a message
 * carries the message's state and its lease's token, and the answer says which rows it met. Immutable, thread-safe.
 */
abstract class Dialect {

    private static final Pattern DELETE_BY_KEY = Pattern.compile("\\{delete (\\w+)}");

    private static final String FIND_TOPIC =
            "SELECT id, lanes, tenant_prefixed_keys, removed_at FROM {topic} WHERE namespace = ? AND topic = ?";

    private final Tables tables;

    /** Bounded by the number of statements in this package: only constants come in, lists of values as one of few lengths. */
    private final Map<String, String> rendered = new ConcurrentHashMap<>();

    Dialect(Tables tables) {
        this.tables = tables;
    }

    /** @throws InvalidConfigurationException for a database we do not know, or one too old */
    static Dialect of(DatabaseMetaData server, JdbcOptions options) throws SQLException {
        String product = server.getDatabaseProductName();
        String version = server.getDatabaseProductVersion();
        return switch (product) {
            case "PostgreSQL" -> atLeast(13, 0, server, new PostgresDialect(new Tables(options, "\"")));
            case "MariaDB" -> atLeast(10, 6, server, mariaDb(server, options));
            // MySQL's own driver takes a MariaDB server for MySQL; its version text tells.
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

    /** The collation that compares byte by byte, trailing blanks included, came with 8.0.17. */
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

    /** A topic as it is registered, also one that was removed. */
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
     * What it does for ordered topics.
     *
     * @param lockTimeout how long a statement that is a transaction of its own may wait for a lock; {@link Sessions} sees to the others
     */
    abstract LaneStatements lanes(Duration lockTimeout);

    /** What it does for the inbox. */
    abstract InboxStatements inbox();

    /** The folder of its schema files. */
    abstract String folder();

    /** Its current time, to be used as {@code {now}}; one parameter of microseconds later, as {@code {later}}. */
    abstract String now();

    abstract String later();

    /** One parameter of microseconds before now, as {@code {ago}}. */
    abstract String ago();

    // How ids and times travel: as JDBC says, where the database has types for them

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

    /** What is added to a SELECT so that nobody deletes the rows before the transaction ends. */
    abstract String existenceLock();

    // Writing, on the caller's connection

    /**
     * Whether its driver asks the server each time it is asked whether a connection is read-only. Then only a failed write
     * asks: server or driver refuse to write anyway, and a round trip for every message is too much.
     */
    boolean asksServerIfReadOnly() {
        return false;
    }

    /**
     * Inserts the rows and their marks in the order given, leaving out those whose key or id is there already. Returns the ids
     * of the rows inserted.
     *
     * @param birth which of them to insert under which lease unless their topic is paused; is told of those that were
     */
    abstract Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable Birth birth) throws SQLException;

    /** Who used these keys first. Keys without an answer were given free meanwhile. */
    abstract Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks)
            throws SQLException;

    /** Whether a transaction in which a statement failed can only be rolled back. */
    boolean errorEndsTransaction() {
        return false;
    }

    // Claiming

    /** Whether every claim and outcome is one statement, which needs no transaction around it. */
    abstract boolean worksInSingleStatements();

    /**
     * What was due, in the order it came due.
     *
     * @param sight null if nothing was, or where the database does not tell
     */
    record Due(List<ClaimedRow> rows, Frontier.@Nullable Sight sight) {}

    /** Leases what is due, beginning at {@code from}. */
    abstract Due claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException;

    /** Leases what another lease ran out on, no longer ago than {@code span}, or earlier where that saves nothing. */
    abstract List<ClaimedRow> claimExpired(
            Connection connection, int topicId, ClaimRequest request, UUID token, Duration span) throws SQLException;

    // Outcomes, of many claims at once: each returns those of the rows that were still held under their tokens. None
    // waits
    // for a row that
    // somebody has locked: it is left out.

    abstract Set<HeldRow> acknowledge(Connection connection, List<HeldRow> rows, JdbcOptions.Archive archive)
            throws SQLException;

    abstract Set<HeldRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException;

    abstract Set<HeldRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException;

    abstract Set<HeldRow> release(Connection connection, List<HeldRow> rows) throws SQLException;

    abstract Set<HeldRow> extend(Connection connection, List<HeldRow> rows, Duration lease) throws SQLException;

    /** Gives back whatever is leased under the token: for a claim whose answer never came. */
    abstract int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException;

    /** Of these rows, those that are held under their tokens: also those that an outcome passed over because they are locked. */
    abstract Set<HeldRow> stillHeld(Connection connection, List<HeldRow> rows) throws SQLException;

    /** Of these numbers, those that are still in the table, with the ids they stand for. */
    abstract Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException;

    // Handling: rows that are removed in the transaction of their handler

    /**
     * Locks rows, and answers the numbers of those that are still to be had and that nobody else has locked.
     *
     * @param idle how long the transaction may do nothing before a database that can ends it: its process may be frozen
     */
    abstract LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException;

    /** Removes rows that are still to be had and that nobody else has locked. */
    abstract RemovedRows removeHandled(
            Connection connection, List<HandledRow> rows, JdbcOptions.Archive archive, Duration idle)
            throws SQLException;

    /** Of these rows, the numbers of those that are to be had, locked by somebody or not. */
    abstract Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException;

    /**
     * Ends a session of ours at the server, with its transaction and whatever it is doing. A server does not notice that its client
     * is gone while it runs a statement, and the locks stay.
     */
    abstract void endSession(Connection connection, ServerSession session) throws SQLException;

    /**
     * A session at the server.
     *
     * @param transaction the one that it is in; empty where a session is never used for another client's transaction
     */
    record ServerSession(long id, String transaction) {}

    /** Rows that were locked, and by which session; null when none was. */
    record LockedRows(Set<Long> seqs, @Nullable ServerSession session) {}

    /** How many rows were removed, and by which session; null when none was. */
    record RemovedRows(int count, @Nullable ServerSession session) {}

    /** As {@link #present}, after everybody who is changing these rows has ended. */
    abstract Map<Long, UUID> presentInTheEnd(Connection connection, Collection<Long> seqs) throws SQLException;

    // Housekeeping

    /** Buries what a lease ran out on in the last attempt, no longer ago than {@code span}, or earlier where that saves nothing. */
    abstract int sweep(Connection connection, int topicId, int maxAttempts, Epitaph epitaph, Duration span, int limit)
            throws SQLException;

    /**
     * From when on to look for what is due.
     *
     * @param span how long ago the first lease that matters may have run out; null when leases are not asked for
     */
    record Peek(Instant from, @Nullable Duration span) {}

    /** How long until the first message is due and the first lease runs out; null if there is none. */
    record Prospect(@Nullable Duration pending, @Nullable Duration leased) {}

    /** When each topic has something to claim; those that are paused are left out. */
    abstract Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException;

    /** An answer of {@link #nextDue}, in microseconds. */
    static Prospect prospect(ResultSet row) throws SQLException {
        return new Prospect(microsOrNone(row, "pending"), microsOrNone(row, "leased"));
    }

    private static @Nullable Duration microsOrNone(ResultSet row, String column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : Duration.of(micros, ChronoUnit.MICROS);
    }

    // Purges: of what is as old, and has been so for no longer than the span

    abstract int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    abstract int purgeDead(Connection connection, Duration age, int limit) throws SQLException;

    abstract int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException;

    /** Builds indexes anew that have outgrown their table, on databases that do not do so by themselves. */
    boolean rebuildIndexes(Sessions sessions) {
        return false;
    }

    // Commands

    /**
     * Inserts a command's row unless it is there, and never fails because it is.
     *
     * @return the row, new or not, if the database shows it at once; empty when it must be read
     */
    abstract Optional<CommandRecord> insertCommand(
            Connection connection, CommandId id, Bind bind, boolean inTransaction) throws SQLException;

    /** Runs statements that wait no longer than this for a lock, and leaves the session as it was. */
    abstract <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException;

    /** How the server is told to end transactions that have gone idle. Asks it how patient it is by itself. */
    IdleLimit idleLimit(Connection connection) throws SQLException {
        return new IdleLimit.None();
    }

    /** What is added to a SELECT so that it reads the newest committed row, also in a transaction with an older snapshot. */
    String newestRead() {
        return "";
    }

    // Bringing in the schema

    /** How the database describes a table. */
    abstract Catalog.Questions catalogQuestions();

    /**
     * The name of the schema that has the tables, or in which they would be created; empty if there is none.
     *
     * @param configured null for the one that the connection finds them in
     */
    abstract Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException;

    /**
     * Refuses a connection that loses characters on the way to the server or back.
     *
     * @throws InvalidConfigurationException naming the fix
     */
    void checkCharacters(Connection connection) throws SQLException {}

    /**
     * The privileges that the user lacks, each with its table, as {@code SELECT on postrider_message}. A table that is missing lacks none.
     *
     * @param columns the tables, each with one of its columns
     */
    abstract List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException;

    /**
     * Runs the migration so that no two processes do it at once.
     *
     * @param schema where the tables are or are to be created, as {@link #schemaOfTables} says
     */
    abstract void migrate(Connection connection, String schema, Migration migration) throws SQLException;

    /** Refuses a server that cannot serve: a standby, an encoding that loses characters, a sequence that hoards numbers. */
    abstract void checkServer(Connection connection) throws SQLException;

    @FunctionalInterface
    interface Migration {
        void run(Connection connection) throws SQLException;
    }

    /** A row and the token it is held under: neither says anything without the other. */
    record HeldRow(long seq, UUID token) {}

    /**
     * A row to be handled. It is to be had while it has this id and this token, none for a row of a lane, and one of these states.
     */
    record HandledRow(long seq, UUID id, @Nullable UUID token, Set<String> states) {}

    /** A failed delivery to be tried again. */
    record Rescheduled(HeldRow row, Duration delay, String error) {}

    /** What is written on a dead letter. */
    record Epitaph(String reason, String error, String fingerprint) {}

    record BuriedRow(HeldRow row, Epitaph epitaph) {}

    final Tables tables() {
        return tables;
    }

    /**
     * The statement with this installation's table names and this database's clock in it. {@code {by key}} after a table that is asked for
     * many rows by its primary key, and {@code {delete message}} for the same with a DELETE, keep a database from reading all of a small
     * table instead, and with it rows that others have locked.
     */
    final String sql(String statement) {
        return rendered.computeIfAbsent(statement, this::sqlOnce);
    }

    /** The same for a text that will hardly come again. */
    final String sqlOnce(String statement) {
        return tables.sql(DELETE_BY_KEY
                .matcher(statement)
                .replaceAll(deleteByKey())
                .replace("{by key}", byKey())
                .replace("{now}", now())
                .replace("{later}", later())
                .replace("{ago}", ago()));
    }

    /** What is added to a table so that its primary key is used, whatever the statistics say. */
    String byKey() {
        return "";
    }

    /** How a DELETE from the table {@code $1} begins that goes by its primary key. */
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

    /** Runs a statement that changes rows; says how many it met. */
    final int update(Connection connection, String statement, Bind bind) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            return prepared.executeUpdate();
        }
    }

    /** Runs a statement that answers with rows. */
    final <T> T query(Connection connection, String statement, Bind bind, Read<T> read) throws SQLException {
        try (PreparedStatement prepared = connection.prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                return read.from(rows);
            }
        }
    }

    // Ways to read an answer

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

    /** The ids of inserted rows; those that were born claimed come with their number. */
    final Set<UUID> idsAndBirths(ResultSet rows, Birth birth) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (rows.next()) {
            UUID id = readUuid(rows, "id");
            long seq = rows.getLong("seq");
            if (!rows.wasNull()) {
                birth.born(id, seq);
            }
            ids.add(id);
        }
        return ids;
    }

    final Set<HeldRow> heldRows(ResultSet rows) throws SQLException {
        Set<HeldRow> held = new HashSet<>();
        while (rows.next()) {
            held.add(new HeldRow(rows.getLong("seq"), readUuid(rows, "lease_token")));
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

    /** In the order they came due: no database promises to return them so. */
    final List<ClaimedRow> claimedRows(ResultSet rows) throws SQLException {
        return rows.next() ? claimedRowsOn(rows) : List.of();
    }

    /** The same, from the row on that the answer is at. */
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
