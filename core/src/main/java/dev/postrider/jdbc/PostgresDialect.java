package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.CommandId;
import dev.postrider.store.CommandRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** PostgreSQL: one statement for each operation, with arrays for batches and RETURNING for the result. */
final class PostgresDialect extends Dialect {

    /** The largest insert by plain values. Each number of rows is a separate prepared statement, and a connection keeps few of them. */
    private static final int FEW = 8;

    private static final List<String> INSERT_FEW =
            IntStream.rangeClosed(0, FEW).mapToObj(PostgresSql::insertFew).toList();

    private static final String SET_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', ?, true)";

    private static final String MISSING_GRANTS = """
            SELECT needed.privilege || ' on ' || needed.name
            FROM unnest(?::text[], ?::text[]) AS needed (name, privilege)
            WHERE to_regclass(needed.name) IS NOT NULL
              AND NOT CASE WHEN needed.name = ? THEN has_sequence_privilege(to_regclass(needed.name), needed.privilege)
                           ELSE has_table_privilege(to_regclass(needed.name), needed.privilege) END
            """;

    PostgresDialect(Tables tables) {
        super(tables);
    }

    @Override
    Dialect in(String schema) {
        return new PostgresDialect(tables().in(schema, "\""));
    }

    @Override
    String folder() {
        return "postgresql";
    }

    @Override
    String now() {
        return "clock_timestamp()";
    }

    @Override
    String later() {
        return "clock_timestamp() + ? * interval '1 microsecond'";
    }

    @Override
    String ago() {
        return "clock_timestamp() - ? * interval '1 microsecond'";
    }

    @Override
    String sessionId() {
        return "pg_backend_pid()";
    }

    @Override
    LaneStatements lanes(Duration lockTimeout) {
        return new PostgresLanes(this, lockTimeout);
    }

    @Override
    InboxStatements inbox() {
        return new PostgresInbox(this);
    }

    // Writing

    @Override
    Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        if (leasedInsert != null && rows.stream().anyMatch(leasedInsert::isWanted)) {
            return insertLeased(connection, rows, leasedInsert);
        }
        if (rows.size() == 1) {
            return insertOne(connection, rows.get(0));
        }
        boolean keyed = rows.stream().anyMatch(row -> row.mark() != null);
        if (!keyed && rows.size() <= FEW) {
            return query(connection, INSERT_FEW.get(rows.size()), binder -> bindRows(binder, rows), this::ids);
        }
        return keyed
                ? insertKeyed(connection, PostgresSql.INSERT_KEYED, rows, null, binder -> bindInput(binder, rows))
                : query(connection, PostgresSql.INSERT, binder -> bindInput(binder, rows), this::ids);
    }

    private Set<UUID> insertKeyed(
            Connection connection, String statement, List<NewRow> rows, @Nullable LeasedInsert leasedInsert, Bind bind)
            throws SQLException {
        Set<UUID> written = new HashSet<>();
        Set<UUID> withoutMessage = new HashSet<>();
        query(connection, statement, bind, answer -> {
            while (answer.next()) {
                if (answer.getObject("id") == null) {
                    withoutMessage.add(readUuid(answer, "marked"));
                } else {
                    written.add(readWritten(answer, leasedInsert));
                }
            }
            return true;
        });
        takeBackMarks(
                connection,
                rows.stream().filter(row -> withoutMessage.remove(row.id())).toList());
        return written;
    }

    private Set<UUID> insertLeased(Connection connection, List<NewRow> rows, LeasedInsert leasedInsert)
            throws SQLException {
        boolean keyed = rows.stream().anyMatch(row -> row.mark() != null);
        if (rows.size() == 1) {
            NewRow row = rows.get(0);
            Bind bind = binder -> bindLease(keyed ? binder.mark(row).row(row) : binder.row(row), leasedInsert)
                    .integer(row.topicId());
            return keyed
                    ? insertKeyed(connection, PostgresSql.INSERT_ONE_KEYED_LEASED, rows, leasedInsert, bind)
                    : query(
                            connection,
                            PostgresSql.INSERT_ONE_LEASED,
                            bind,
                            answer -> idsAndLeases(answer, leasedInsert));
        }
        Bind bind = binder -> bindLease(bindInput(binder, rows), leasedInsert)
                .array("uuid", column(leasedInsert.wanted(rows), Message::id, MessageId::value));
        return keyed
                ? insertKeyed(connection, PostgresSql.INSERT_KEYED_LEASED, rows, leasedInsert, bind)
                : query(connection, PostgresSql.INSERT_LEASED, bind, answer -> idsAndLeases(answer, leasedInsert));
    }

    private static Binder bindLease(Binder binder, LeasedInsert leasedInsert) throws SQLException {
        return binder.uuid(leasedInsert.lease().token())
                .text(leasedInsert.lease().holder())
                .micros(leasedInsert.lease().length());
    }

    private Set<UUID> insertOne(Connection connection, NewRow row) throws SQLException {
        if (row.mark() != null) {
            return insertKeyed(
                    connection,
                    PostgresSql.INSERT_ONE_KEYED,
                    List.of(row),
                    null,
                    binder -> binder.mark(row).row(row));
        }
        int inserted = update(connection, PostgresSql.INSERT_ONE, binder -> binder.row(row));
        return inserted == 1 ? Set.of(row.id()) : Set.of();
    }

    private static void bindRows(Binder binder, List<NewRow> rows) throws SQLException {
        for (NewRow row : rows) {
            binder.row(row);
        }
    }

    /** Binds one array for each column, in the order of {@link Binder#row}. */
    private static Binder bindInput(Binder binder, List<NewRow> rows) throws SQLException {
        return binder.array("uuid", column(rows, Message::id, MessageId::value))
                .array("int4", rows.stream().map(NewRow::topicId).toArray())
                .array("text", column(rows, message -> message.topic().namespace()))
                .array("text", column(rows, message -> message.topic().topic()))
                .array("text", column(rows, Message::type))
                .array("text", column(rows, Message::tenant))
                .array("text", column(rows, Message::key))
                .array("text", column(rows, Message::idempotencyKey))
                .array("text", column(rows, message -> message.payload().contentType()))
                .array("bytea", bytes(rows, row -> row.message().payload().bytes()))
                .array("text", column(rows, message -> Json.write(message.headers())))
                .array("text", column(rows, Message::correlationId))
                .array("text", column(rows, Message::causationId))
                .array(
                        "text",
                        column(
                                rows,
                                message -> message.trace() == null
                                        ? null
                                        : message.trace().traceparent()))
                .array(
                        "text",
                        column(
                                rows,
                                message -> message.trace() == null
                                        ? null
                                        : message.trace().tracestate()))
                .array("text", column(rows, Message::source))
                .array("text", column(rows, Message::subject))
                .array("timestamptz", column(rows, Message::occurredAt, PostgresDialect::timestamp))
                .array("timestamptz", column(rows, Message::deliverAt, PostgresDialect::timestamp))
                .array("int2", rows.stream().map(NewRow::lane).toArray())
                .array("bytea", bytes(rows, row -> row.mark() == null ? null : row.mark().keyHash))
                .array("bytea", bytes(rows, row -> row.mark() == null ? null : row.mark().payloadHash));
    }

    private static Object[] column(List<NewRow> rows, Function<Message, @Nullable String> value) {
        return rows.stream().map(row -> value.apply(row.message())).toArray(String[]::new);
    }

    private static <T> Object[] column(
            List<NewRow> rows, Function<Message, @Nullable T> value, Function<T, Object> converted) {
        Object[] column = new Object[rows.size()];
        for (int i = 0; i < column.length; i++) {
            T given = value.apply(rows.get(i).message());
            column[i] = given == null ? null : converted.apply(given);
        }
        return column;
    }

    private static Object[] bytes(List<NewRow> rows, Function<NewRow, byte @Nullable []> value) {
        return rows.stream().map(value).toArray(byte[][]::new);
    }

    /** Every session reads ISO 8601 in UTC in the same way, regardless of its time zone and date style. */
    private static Object timestamp(Instant time) {
        return time.toString();
    }

    @Override
    Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) throws SQLException {
        return query(
                connection,
                PostgresSql.FIRST_USES,
                binder -> binder.array(
                                "int4", marks.stream().map(mark -> mark.topicId).toArray())
                        .array("bytea", marks.stream().map(mark -> mark.keyHash).toArray(byte[][]::new)),
                this::firstUses);
    }

    @Override
    Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException {
        return query(connection, PostgresSql.LIVE, binder -> binder.array("uuid", ids.toArray()), this::liveMessages);
    }

    @Override
    String existenceLock() {
        return " FOR KEY SHARE";
    }

    // Claiming

    @Override
    boolean errorEndsTransaction() {
        return true;
    }

    /** The id of the transaction: a savepoint would be lost when user code returns to an earlier one. */
    @Override
    TransactionProof transactionProof() {
        return TransactionProof.ById.onPostgres();
    }

    @Override
    boolean worksInSingleStatements() {
        return true;
    }

    @Override
    Due claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        return query(
                connection,
                PostgresSql.CLAIM_DUE,
                binder -> bindClaim(binder.integer(topicId).time(from), topicId, request, token),
                this::due);
    }

    private Due due(ResultSet rows) throws SQLException {
        if (!rows.next()) {
            return new Due(List.of(), null);
        }
        DueScanStart.Sight sight = new DueScanStart.Sight(
                Objects.requireNonNull(readTime(rows, "looked_at")),
                rows.getLong("transaction"),
                rows.getLong("finished_before"));
        return new Due(claimedRowsOn(rows), sight);
    }

    @Override
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token, Duration span)
            throws SQLException {
        return query(
                connection,
                PostgresSql.CLAIM_EXPIRED,
                binder -> bindClaim(
                        binder.integer(topicId).micros(span).integer(request.maxAttempts()), topicId, request, token),
                this::claimedRows);
    }

    /** Binds the last parameters, which both claim statements share. */
    private static void bindClaim(Binder binder, int topicId, ClaimRequest request, UUID token) throws SQLException {
        String[] tenants =
                request.tenants().isEmpty() ? null : request.tenants().toArray(String[]::new);
        binder.array("text", tenants)
                .array("text", tenants)
                .integer(topicId)
                .integer(request.limit())
                .number(request.maxBytes())
                .uuid(token)
                .text(request.worker())
                .micros(request.lease());
    }

    // Outcomes

    @Override
    Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, JdbcOptions.Archive archive)
            throws SQLException {
        if (archive == JdbcOptions.Archive.OFF) {
            return query(connection, PostgresSql.DELETE, binder -> lookUp(binder, rows), this::leasedRows);
        }
        boolean withPayload = archive == JdbcOptions.Archive.FULL;
        return query(
                connection, PostgresSql.ARCHIVE, binder -> lookUp(binder, rows).flag(withPayload), this::leasedRows);
    }

    @Override
    Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        List<LeasedRow> held = rows.stream().map(Rescheduled::row).toList();
        return query(
                connection,
                PostgresSql.RESCHEDULE,
                binder -> held(binder, held)
                        .array(
                                "int8",
                                rows.stream()
                                        .map(row -> Binder.toMicros(row.delay()))
                                        .toArray())
                        .array("text", rows.stream().map(Rescheduled::error).toArray()),
                this::leasedRows);
    }

    @Override
    Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        List<LeasedRow> held = rows.stream().map(BuriedRow::row).toList();
        List<DeathRecord> epitaphs = rows.stream().map(BuriedRow::epitaph).toList();
        return query(
                connection,
                PostgresSql.BURY,
                binder -> held(binder, held)
                        .array(
                                "text",
                                epitaphs.stream().map(DeathRecord::reason).toArray())
                        .array("text", epitaphs.stream().map(DeathRecord::error).toArray())
                        .array(
                                "text",
                                epitaphs.stream().map(DeathRecord::fingerprint).toArray()),
                this::leasedRows);
    }

    @Override
    Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException {
        return query(connection, PostgresSql.RELEASE, binder -> held(binder, rows), this::leasedRows);
    }

    @Override
    int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        return update(
                connection,
                PostgresSql.RELEASE_CLAIM,
                binder -> binder.integer(topicId).uuid(token));
    }

    @Override
    Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
        return query(
                connection, PostgresSql.EXTEND, binder -> lookUp(binder, rows).micros(lease), this::leasedRows);
    }

    @Override
    Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException {
        return query(connection, PostgresSql.STILL_LEASED, binder -> lookUp(binder, rows), this::leasedRows);
    }

    /** Binds the numbers for the index, and then each number with its token. */
    private static Binder lookUp(Binder binder, List<LeasedRow> rows) throws SQLException {
        return held(binder.array("int8", rows.stream().map(LeasedRow::seq).toArray()), rows);
    }

    private static Binder held(Binder binder, List<LeasedRow> rows) throws SQLException {
        return binder.array("int8", rows.stream().map(LeasedRow::seq).toArray())
                .array("uuid", rows.stream().map(LeasedRow::token).toArray());
    }

    @Override
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return query(
                connection, PostgresSql.PRESENT, binder -> binder.array("int8", seqs.toArray()), this::numbersWithIds);
    }

    // Handling

    @Override
    LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException {
        return query(
                connection,
                PostgresSql.LOCK_HANDLED,
                binder -> handled(binder.text(Long.toString(idle.toMillis())), rows),
                Dialect::lockedRows);
    }

    @Override
    Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException {
        return query(connection, PostgresSql.STILL_HANDLED, binder -> handled(binder, rows), Dialect::numbers);
    }

    @Override
    void endSession(Connection connection, ServerSession session) throws SQLException {
        query(
                connection,
                PostgresSql.END_SESSION,
                binder -> binder.number(session.id()).text(session.transaction()),
                ResultSet::next);
    }

    @Override
    RemovedRows removeHandled(Connection connection, List<HandledRow> rows, JdbcOptions.Archive archive, Duration idle)
            throws SQLException {
        boolean kept = archive != JdbcOptions.Archive.OFF;
        boolean one = rows.size() == 1;
        String many = kept ? PostgresSql.REMOVE_AND_ARCHIVE_HANDLED : PostgresSql.REMOVE_HANDLED_ONLY;
        String single = kept ? PostgresSql.REMOVE_AND_ARCHIVE_ONE_HANDLED : PostgresSql.REMOVE_ONE_HANDLED_ONLY;
        return query(
                connection,
                one ? single : many,
                binder -> {
                    if (one) {
                        handled(binder, rows.get(0));
                    } else {
                        handled(binder, rows);
                    }
                    if (kept) {
                        binder.flag(archive == JdbcOptions.Archive.FULL);
                    }
                    binder.text(Long.toString(idle.toMillis()));
                },
                answer -> {
                    answer.next();
                    return new RemovedRows(answer.getInt("met"), serverSession(answer));
                });
    }

    private static void handled(Binder binder, HandledRow row) throws SQLException {
        binder.number(row.seq()).uuid(row.id()).uuidOrNone(row.token()).text(String.join(",", row.states()));
    }

    private static Binder handled(Binder binder, List<HandledRow> rows) throws SQLException {
        return binder.array("int8", rows.stream().map(HandledRow::seq).toArray())
                .array("uuid", rows.stream().map(HandledRow::id).toArray())
                .array("uuid", rows.stream().map(HandledRow::token).toArray())
                .array(
                        "text",
                        rows.stream().map(row -> String.join(",", row.states())).toArray());
    }

    @Override
    Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException {
        return query(
                connection,
                PostgresSql.PRESENT_IN_THE_END,
                binder -> binder.array("int8", seqs.toArray()),
                this::numbersWithIds);
    }

    // Maintenance

    @Override
    int sweep(Connection connection, int topicId, int maxAttempts, DeathRecord epitaph, Duration span, int limit)
            throws SQLException {
        return update(
                connection,
                PostgresSql.SWEEP,
                binder -> binder.integer(topicId)
                        .micros(span)
                        .integer(maxAttempts)
                        .integer(limit)
                        .text(epitaph.reason())
                        .text(epitaph.error())
                        .text(epitaph.fingerprint()));
    }

    @Override
    Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException {
        List<Map.Entry<Integer, Peek>> inOrder = List.copyOf(peeks.entrySet());
        return query(
                connection,
                PostgresSql.NEXT_DUE,
                binder -> binder.array(
                                "int4", inOrder.stream().map(Map.Entry::getKey).toArray())
                        .array(
                                "timestamptz",
                                inOrder.stream()
                                        .map(peek -> timestamp(peek.getValue().from()))
                                        .toArray())
                        .array(
                                "int8",
                                inOrder.stream()
                                        .map(peek -> micros(peek.getValue().span()))
                                        .toArray()),
                rows -> {
                    Map<Integer, Prospect> due = new HashMap<>();
                    while (rows.next()) {
                        due.put(rows.getInt("id"), prospect(rows));
                    }
                    return due;
                });
    }

    private static @Nullable Long micros(@Nullable Duration span) {
        return span == null ? null : Binder.toMicros(span);
    }

    @Override
    int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return update(
                connection,
                PostgresSql.PURGE_ARCHIVE,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }

    @Override
    int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        return update(
                connection,
                PostgresSql.PURGE_DEAD,
                binder -> binder.micros(age).integer(limit).micros(age));
    }

    @Override
    int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return update(
                connection,
                PostgresSql.PURGE_KEYS,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }

    @Override
    boolean rebuildIndexes(Sessions sessions) {
        return new PostgresIndexes(this).rebuildOutgrown(sessions);
    }

    // Commands

    @Override
    Optional<CommandRecord> insertCommand(Connection connection, Bind bind) throws SQLException {
        return query(connection, PostgresSql.INSERT_COMMAND, bind, rows -> CommandRow.first(rows, this));
    }

    /**
     * Sends two statements in one round trip. Both are one transaction, and the lock timeout ends with it. A timeout that the second
     * statement sets itself would come too late for its table lock.
     */
    @Override
    Optional<CommandRecord> insertCommandAlone(Connection connection, CommandId id, Bind bind, Duration lockTimeout)
            throws SQLException {
        String both = SET_LOCK_TIMEOUT + ";\n" + PostgresSql.INSERT_OR_FIND_COMMAND;
        try (PreparedStatement prepared = connection.prepareStatement(sql(both))) {
            Binder binder = bind(prepared).text(inMillis(lockTimeout));
            bind.to(binder);
            binder.bytes(id.bytes());
            prepared.execute();
            prepared.getMoreResults();
            try (ResultSet rows = prepared.getResultSet()) {
                return CommandRow.first(rows, this);
            }
        }
    }

    @Override
    IdleLimit idleLimit(Connection connection) {
        return new IdleLimit.OfTransaction();
    }

    /** Does not restore the timeout after an error: the caller's rollback to an earlier savepoint restores it. */
    @Override
    <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        String before = query(
                connection,
                "SELECT current_setting('lock_timeout')",
                binder -> {},
                row -> row.next() ? row.getString(1) : "0");
        setLockTimeout(connection, inMillis(wait));
        T result = body.run(connection);
        setLockTimeout(connection, before);
        return result;
    }

    private void setLockTimeout(Connection connection, String timeout) throws SQLException {
        query(connection, SET_LOCK_TIMEOUT, binder -> binder.text(timeout), row -> true);
    }

    private static String inMillis(Duration wait) {
        return Math.max(wait.toMillis(), 1) + "ms";
    }

    @Override
    Catalog.Questions catalogQuestions() {
        String named = " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?";
        return new Catalog.Questions(
                "SELECT FROM pg_class c" + named + " AND c.relkind IN ('r', 'p')",
                "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
                        + " JOIN pg_class c ON c.oid = a.attrelid" + named + " AND a.attnum > 0 AND NOT a.attisdropped",
                "SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid"
                        + named);
    }

    /** The search path may list several schemas: the tables are in the first schema that contains them, or will be in the current one. */
    @Override
    Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return configured != null
                ? Optional.of(configured)
                : query(
                        connection,
                        "SELECT coalesce((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                                + " WHERE c.oid = to_regclass(?)), current_schema())",
                        binder -> binder.text(tables().bare("schema")),
                        row -> row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty());
    }

    @Override
    String schemaQuery() {
        return "SELECT FROM pg_namespace WHERE nspname = ?";
    }

    @Override
    List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException {
        List<String> names = new ArrayList<>();
        List<String> privileges = new ArrayList<>();
        List<String> all = new ArrayList<>(columns.keySet());
        all.add("inbox_floor");
        for (String table : all) {
            for (String privilege : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
                names.add(tables().qualified(table));
                privileges.add(privilege);
            }
        }
        String sequence = tables().qualified("message_seq");
        // Reads of lanes select the last value of the sequence.
        for (String privilege : List.of("USAGE", "SELECT")) {
            names.add(sequence);
            privileges.add(privilege);
        }
        return query(
                connection,
                MISSING_GRANTS,
                binder -> binder.array("text", names.toArray())
                        .array("text", privileges.toArray())
                        .text(sequence),
                row -> {
                    List<String> missing = new ArrayList<>();
                    while (row.next()) {
                        missing.add(row.getString(1));
                    }
                    return missing;
                });
    }

    /**
     * Runs the migration in one transaction: DDL is transactional on PostgreSQL, so it applies completely or not at all. New tables are
     * created in the schema of the existing ones, even if another schema comes first in the search path.
     */
    @Override
    void migrate(Connection connection, String schema, Migration migration) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = '10s'");
            statement.execute("SELECT pg_advisory_xact_lock("
                    + tables().qualified("schema").hashCode() + ")");
            query(
                    connection,
                    "SELECT set_config('search_path', quote_ident(?) || ', ' || current_setting('search_path'), true)",
                    binder -> binder.text(schema),
                    ResultSet::next);
            migration.run(connection);
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            Sessions.rollback(connection, e);
            throw e;
        }
    }

    @Override
    void checkServer(Connection connection) throws SQLException {
        query(connection, "SELECT pg_is_in_recovery(), current_setting('server_encoding')", binder -> {}, row -> {
            row.next();
            checkPrimary(row.getBoolean(1));
            checkEncoding(row.getString(2));
            return true;
        });
        query(connection, "SELECT seqcache FROM pg_sequence WHERE seqrelid = ?::regclass", this::bindSequence, row -> {
            checkSequence(row.next() ? row.getLong(1) : 1);
            return true;
        });
    }

    private void bindSequence(Binder binder) throws SQLException {
        binder.text(tables().qualified("message_seq"));
    }

    private static void checkPrimary(boolean inRecovery) {
        if (inRecovery) {
            throw new InvalidConfigurationException(
                    "db.url", "leads to a standby, which is read-only: use the address of the primary");
        }
    }

    private static void checkEncoding(String encoding) {
        if (!encoding.equals("UTF8")) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "leads to a database with encoding " + encoding
                            + ", which loses characters: create the database with ENCODING 'UTF8'");
        }
    }

    private void checkSequence(long cache) {
        if (cache != 1) {
            String sequence = tables().qualified("message_seq");
            throw new SchemaMismatchException("Sequence " + sequence
                    + " allocates numbers in blocks, which breaks the order of messages. Run: ALTER SEQUENCE "
                    + sequence
                    + " CACHE 1");
        }
    }
}
