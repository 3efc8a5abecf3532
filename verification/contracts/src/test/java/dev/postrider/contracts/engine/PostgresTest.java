package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.contracts.Sql;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.Commands;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Blob;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.util.PGobject;

/** What only PostgreSQL can get wrong. */
final class PostgresTest {

    private static final Message MESSAGE = Message.to("t").type("x").text("ä😀").build();
    private static final Message RECEIVED =
            Message.received("t", "1").type("x").text("y").build();

    private final Database database =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("pg");
    private final DataSource dataSource = database.dataSource();

    @Test
    void transactionAbortedByAnEarlierErrorIsRefusedAsSuch() throws SQLException {
        try (Postrider postrider = migrated();
                Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> statement.execute("SELECT 1 / 0")).isInstanceOf(SQLException.class);
            refuses(Problem.ABORTED, postrider, connection);
        }
    }

    /** The commit of an aborted transaction is a rollback, and the driver says nothing. */
    @Test
    void workThatSwallowsAnErrorIsNotReportedAsDone() throws Exception {
        execute("CREATE TABLE effect (id INT PRIMARY KEY)");
        execute("INSERT INTO effect VALUES (1), (2)");
        try (Postrider postrider = migrated()) {
            List<ThrowableAssert.ThrowingCallable> calls = List.of(
                    () -> postrider.inTransaction(work -> swallowOfASavepoint(work.connection())),
                    () -> postrider.inTransaction(work -> swallowOfAResultSet(work.connection())),
                    () -> postrider.inTransaction(work -> swallow(work.connection())),
                    () -> postrider.inTransaction(work -> {
                        work.outbox().enqueue(MESSAGE);
                        swallow(work.connection());
                    }),
                    () -> postrider.inTransaction(work -> {
                        swallow((Connection) work.connection().unwrap(PGConnection.class));
                    }),
                    () -> postrider.inbox("billing").process(RECEIVED, work -> swallow(work.connection())));
            for (ThrowableAssert.ThrowingCallable call : calls) {
                assertThatThrownBy(call)
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.ABORTED));
            }
            postrider.inTransaction(work -> {
                Savepoint before = work.connection().setSavepoint();
                swallow(work.connection());
                work.connection().rollback(before);
                work.outbox().enqueue(MESSAGE);
            });
        }
        assertThat(number("SELECT count(*) FROM postrider_message")).isEqualTo(1);
        assertThat(number("SELECT count(*) FROM postrider_inbox_mark")).isZero();
    }

    /** Large objects, arrays and metadata ask the server when they are read. */
    @Test
    void workThatSwallowsAnErrorOfAnObjectOfTheDriverIsNotReportedAsDone() throws Exception {
        execute("CREATE TABLE effect (id INT PRIMARY KEY)");
        execute("INSERT INTO effect VALUES (1)");
        execute("CREATE ROLE poor_" + database.name());
        execute("GRANT SELECT ON effect TO poor_" + database.name());
        execute("REVOKE SELECT ON pg_catalog.pg_attribute FROM PUBLIC");
        List<Read> reads = List.of(
                row -> row.getObject(1, Blob.class).getBytes(1, 1),
                row -> row.getBlob(1).getBinaryStream().read(),
                row -> row.getObject(1, Clob.class).getSubString(1, 1),
                row -> row.getClob(1).getCharacterStream().read(),
                row -> row.getMetaData().isNullable(2),
                row -> ((Array) row.getObject(3)).getResultSet().getStatement().executeQuery("SELECT 1 / 0"));
        try (Postrider postrider = migrated()) {
            Inbox inbox = postrider.inbox("billing");
            for (Read read : reads) {
                assertThatThrownBy(() -> inbox.process(RECEIVED, work -> swallow(work.connection(), read)))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.ABORTED));
            }
        }
        assertThat(number("SELECT count(*) FROM postrider_inbox_mark")).isZero();
    }

    @FunctionalInterface
    private interface Read {
        Object from(ResultSet row) throws Exception;
    }

    private void swallow(Connection connection, Read read) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL ROLE poor_" + database.name());
            ResultSet row = statement.executeQuery("SELECT 4242::oid, id, ARRAY[1] FROM effect");
            assertThat(row.next()).isTrue();
            Throwable swallowed = catchThrowable(() -> read.from(row));
            assertThat(swallowed).isInstanceOfAny(SQLException.class, IOException.class);
        }
    }

    /** The connection behind an array is the guard, and the driver takes its own array back. */
    @Test
    void arrayLeadsToTheGuardedConnectionAndCanBeWritten() throws Exception {
        try (Postrider postrider = migrated()) {
            postrider.inTransaction(work -> {
                Connection connection = work.connection();
                try (PreparedStatement statement = connection.prepareStatement("SELECT ?::int[] || 2, '{}'::jsonb")) {
                    statement.setArray(1, connection.createArrayOf("int", new Object[] {1}));
                    try (ResultSet row = statement.executeQuery()) {
                        assertThat(row.next()).isTrue();
                        Array array = row.getArray(1);
                        assertThat((Integer[]) array.getArray()).containsExactly(1, 2);
                        assertThat(array.getResultSet().getStatement().getConnection())
                                .isSameAs(connection);
                        assertThat(array).hasToString("{1,2}");
                        assertThat(row.getObject(2)).isInstanceOf(PGobject.class);
                        assertThat(row.getMetaData().getColumnCount()).isEqualTo(2);
                    }
                }
            });
        }
    }

    /** The tables of the other databases have a CHECK of the state. */
    @Test
    void messageInAStateThatOtherSoftwareInventedIsFound() throws Exception {
        try (Postrider postrider = migrated()) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            execute("UPDATE postrider_message SET state = 'ASLEEP'");

            assertThat(postrider.admin().find(MESSAGE.id()))
                    .hasValueSatisfying(found -> assertThat(found.state()).isEqualTo(StoredMessage.State.UNKNOWN));
        }
    }

    @Test
    void messageInAStateThatOtherSoftwareInventedWaitsForAnOperatorAndIsNotChanged() throws Exception {
        Message ordered = Message.to("lanes").type("x").key("k").text("y").build();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("t")
                .topic("lanes", topic -> topic.ordered())
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> {
                work.stage(MESSAGE);
                work.stage(ordered);
            });
            execute("UPDATE postrider_message SET state = 'ASLEEP'");

            for (Message message : List.of(MESSAGE, ordered)) {
                assertThat(postrider.admin().explain(message.id()).orElseThrow().waits())
                        .extracting(MessageDetail.Wait::cause)
                        .containsExactly(MessageDetail.WaitCause.OPERATOR);
                for (Action action : Action.values()) {
                    boolean isOfArchive = action.states().contains(StoredMessage.State.DELIVERED);
                    assertThat(postrider.admin().apply(action, message.id(), Change.by("ann")))
                            .as("%s", action)
                            .isEqualTo(isOfArchive ? Repair.NOT_FOUND : Repair.WRONG_STATE);
                }
            }
        }
    }

    /** The driver's own connection ends the transaction, and the work goes on in a new one. */
    @Test
    void endByTheDriversOwnConnectionIsNoticed() throws Exception {
        try (Postrider postrider = migrated()) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        Connection driver = (Connection) work.connection().unwrap(PGConnection.class);
                        driver.commit();
                        work.outbox().enqueue(MESSAGE);
                    }))
                    .isInstanceOfSatisfying(
                            UnusableConnectionException.class,
                            e -> assertThat(e.problem()).isEqualTo(Problem.ENDED));
        }
        assertThat(number("SELECT count(*) FROM postrider_message")).isZero();
    }

    /** What looks like an end is run, whatever the words in it. An end is noticed, whatever hides it. */
    @Test
    void textIsJudgedByTheTransactionAndNotByItsWords() throws Exception {
        try (Postrider postrider = migrated()) {
            for (String sql : List.of(
                    "/* a /* b */ commit */ SELECT 1",
                    "SET my.autocommit = 'x'",
                    "DO $$ BEGIN PERFORM 1; END $$",
                    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE SQL BEGIN ATOMIC SELECT 1; END",
                    "SELECT '; COMMIT', CASE WHEN TRUE THEN 1 END",
                    "SAVEPOINT a; SELECT 'x;'; ROLLBACK TO a")) {
                postrider.inTransaction(work -> {
                    work.outbox().enqueue(Message.to("t").type("x").text("y").build());
                    run(work.connection(), sql);
                    run(work.connection(), sql.replace(" pg_temp.f()", " pg_temp.g()"));
                });
            }
            assertThat(number("SELECT count(*) FROM postrider_message")).isEqualTo(6);
            for (String sql : List.of(
                    "CREATE TEMP TABLE a (note TEXT DEFAULT ';'); COMMIT",
                    "SELECT 'a\\'; COMMIT; SELECT 'b'",
                    "SELECT 1; -- x\rCOMMIT",
                    "SELECT '/*;'; COMMIT /* */",
                    "SELECT $a$;$a$; ROLLBACK; BEGIN",
                    "SELECT ';'; COMMIT AND CHAIN")) {
                assertThatThrownBy(() -> postrider.inTransaction(work -> {
                            work.outbox().enqueue(MESSAGE);
                            run(work.connection(), sql);
                        }))
                        .as(sql)
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.ENDED));
            }
        }
    }

    /** A text that fails after its COMMIT has still committed. */
    @Test
    void textThatFailsAfterItsCommitIsNoOrdinaryFailure() throws Exception {
        try (Postrider postrider = migrated()) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        work.outbox().enqueue(MESSAGE);
                        run(work.connection(), "SELECT ';'; COMMIT; SELECT 1 / 0");
                    }))
                    .isInstanceOfSatisfying(
                            UnusableConnectionException.class,
                            e -> assertThat(e.problem()).isEqualTo(Problem.ENDED));
            assertThatThrownBy(() -> postrider.inTransaction(
                            work -> run(work.connection(), "DO $$ BEGIN RAISE EXCEPTION 'no'; END $$")))
                    .isInstanceOf(SQLException.class);
        }
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static void swallowOfASavepoint(Connection connection) throws SQLException {
        Savepoint outer = connection.setSavepoint();
        Savepoint inner = connection.setSavepoint();
        connection.rollback(outer);
        try {
            connection.rollback(inner);
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isEqualTo("3B001");
        }
    }

    private static void swallowOfAResultSet(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_UPDATABLE);
                ResultSet rows = statement.executeQuery("SELECT id FROM effect WHERE id = 2")) {
            assertThat(rows.next()).isTrue();
            rows.updateInt(1, 1);
            rows.updateRow();
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isEqualTo("23505");
        }
    }

    private static void swallow(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO effect VALUES (1)");
        } catch (SQLException e) {
            assertThat(e.getSQLState()).isEqualTo("23505");
        }
    }

    @Test
    void transactionMadeReadOnlyBehindTheDriversBackIsRefusedAsSuch() throws SQLException {
        try (Postrider postrider = migrated();
                Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET TRANSACTION READ ONLY");
            refuses(Problem.READ_ONLY, postrider, connection);
        }
    }

    private static void refuses(Problem problem, Postrider postrider, Connection connection) {
        assertThatThrownBy(() -> postrider.outbox(connection).enqueue(MESSAGE))
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(problem));
    }

    @Test
    void numbersAreTakenAfterTheTransactionId() throws SQLException {
        try (Postrider postrider = migrated();
                Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef"
                                + " WHERE adrelid = 'postrider_message'::regclass AND pg_get_expr(adbin, adrelid) LIKE '%nextval%'")) {
            assertThat(row.next()).isTrue();
            assertThat(row.getString(1))
                    .contains("pg_current_xact_id() IS NOT NULL")
                    .contains("nextval");
            assertThat(postrider.admin().status()).hasSize(1);
        }
    }

    @Test
    void sequenceThatHoardsNumbersIsRefused() throws SQLException {
        try (Postrider postrider = migrated()) {
            execute("ALTER SEQUENCE postrider_message_seq CACHE 50");
            assertThatThrownBy(postrider::start)
                    .isInstanceOf(SchemaMismatchException.class)
                    .hasMessageContaining("CACHE 1");
        }
    }

    @Test
    void databaseThatLosesCharactersIsRefused() throws SQLException {
        execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        String url = database.jdbcUrl().replace("/" + database.name(), "/latin");
        DataSource latin = new Database("latin", url, database.user(), database.password()).dataSource();
        try (Postrider postrider = Postrider.on(latin)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build()) {
            postrider.migrate();
            assertThatThrownBy(postrider::start)
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("UTF8");
        }
    }

    @Test
    void schemaWithASimilarNameIsNotTakenForTheOneThatIsMeant() throws SQLException {
        for (String schema : List.of("tenant11", "tenant_1")) {
            execute("CREATE SCHEMA " + schema);
            JdbcDatabase tables = open(dataSource, schema);
            assertThat(tables.migrate()).as(schema).isEqualTo(3);
            tables.check();
        }
    }

    @Test
    void tablesAreFoundInALaterSchemaOfTheSearchPathAndNoSecondSetIsMade() throws SQLException {
        execute("CREATE SCHEMA empty_one");
        execute("CREATE SCHEMA full_one");
        assertThat(open(dataSource, "full_one").migrate()).isEqualTo(3);
        String path = "currentSchema=empty_one,full_one";
        String url = database.jdbcUrl() + (database.jdbcUrl().contains("?") ? "&" : "?") + path;
        JdbcDatabase both =
                open(new Database(database.name(), url, database.user(), database.password()).dataSource(), null);

        both.check();
        assertThat(both.migrate()).isZero();
        execute("DROP TABLE full_one.postrider_command");
        execute("DELETE FROM full_one.postrider_schema WHERE version = 3");
        assertThat(both.migrate()).isEqualTo(1);
        both.check();

        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT count(*) FROM pg_tables WHERE schemaname = 'empty_one' AND tablename LIKE 'postrider%'")) {
            row.next();
            assertThat(row.getInt(1)).isZero();
        }
    }

    private static JdbcDatabase open(DataSource dataSource, @Nullable String schema) {
        return JdbcDatabase.open(
                dataSource, TableOptions.defaults().with(t -> t.schema(schema)), Duration.ofSeconds(60), event -> {});
    }

    @Test
    void databaseWithASerializableDefaultIsWorkedOnAtReadCommitted() throws SQLException {
        execute("ALTER DATABASE " + database.name() + " SET default_transaction_isolation = 'serializable'");
        try (Postrider postrider = migrated()) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w")))
                    .singleElement()
                    .satisfies(claim -> assertThat(
                                    postrider.store().acknowledge(claim).isLost())
                            .isFalse());
        }
    }

    @Test
    void databaseThatIsReadOnlyByDefaultIsRefusedAsSuch() throws SQLException {
        try (Postrider postrider = migrated()) {
            execute("ALTER DATABASE " + database.name() + " SET default_transaction_read_only = on");
            try (Connection connection = dataSource.getConnection()) {
                connection.setAutoCommit(false);
                refuses(Problem.READ_ONLY, postrider, connection);
            }
        }
    }

    @Test
    void userWithoutPrivilegesGetsTheDatabasesOwnWords() throws SQLException {
        try (Postrider postrider = migrated()) {
            assertThat(postrider.admin().status()).hasSize(1);
            execute("CREATE ROLE stranger_" + database.name() + " LOGIN");
            DataSource stranger =
                    new Database(database.name(), database.jdbcUrl(), "stranger_" + database.name(), "").dataSource();
            try (Postrider other = Postrider.on(stranger).topic("t").build()) {
                assertThatThrownBy(() -> other.admin().status())
                        .isInstanceOf(StoreException.class)
                        .hasMessageContaining("42501");
            }
        }
    }

    @Test
    void sessionInAnotherTimeZoneSeesTheSameTimes() throws SQLException {
        execute("ALTER DATABASE " + database.name() + " SET timezone = 'Asia/Kathmandu'");
        execute("ALTER DATABASE " + database.name() + " SET datestyle = 'German'");
        try (Postrider postrider = migrated()) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w")))
                    .singleElement()
                    .satisfies(claim -> assertThat(claim.message()).isEqualTo(MESSAGE));
        }
    }

    @Test
    void sameNamedTableEarlierOnTheSearchPathIsNotWrittenToWhenASchemaIsSet() throws SQLException {
        execute("CREATE SCHEMA ours");
        execute("CREATE SCHEMA hijacker");
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("t")
                .tables(tables -> tables.schema("ours"))
                .build()) {
            postrider.migrate();
            execute("CREATE TABLE hijacker.postrider_message (LIKE ours.postrider_message INCLUDING ALL)");
            execute("ALTER DATABASE " + database.name() + " SET search_path = hijacker, ours");
            postrider.inTransaction(work -> work.stage(MESSAGE));
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w"))).hasSize(1);
        }
    }

    /** No constraint refuses them: the page on databases has a query that finds them. */
    @Test
    void rowsThatNoStatementWouldFindAreFoundByTheQueryOfThePage() throws Exception {
        String page = Files.readString(Path.of("../../docs/databases.md"));
        int section = page.indexOf("**The rules of a message row.**");
        int start = page.indexOf("```sql\n", section) + "```sql\n".length();
        String unsound = page.substring(start, page.indexOf("```", start)).replace(";", "");
        String count = "SELECT count(*) FROM (" + unsound + ") AS unsound";
        try (Postrider postrider = migrated()) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            assertThat(Sql.number(dataSource, count)).isZero();
            for (String change : new String[] {
                "state = 'SOMETHING'",
                "state = 'PROCESSING'",
                "available_at = '0001-01-01'",
                "lease_token = gen_random_uuid()",
                "locked_until = now()"
            }) {
                try (Connection connection = dataSource.getConnection();
                        Statement statement = connection.createStatement()) {
                    connection.setAutoCommit(false);
                    statement.executeUpdate("UPDATE postrider_message SET " + change);
                    try (ResultSet row = statement.executeQuery(count)) {
                        row.next();
                        assertThat(row.getInt(1)).as(change).isOne();
                    }
                    connection.rollback();
                }
            }
        }
    }

    @Test
    void duplicateInATransactionWithAnOlderSnapshotIsAConflictForItsOwner() throws SQLException {
        try (Postrider postrider = migrated();
                Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            Inbox inbox = postrider.inbox("billing");
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            connection.setAutoCommit(false);
            statement.executeQuery("SELECT 1 FROM postrider_inbox_mark").close();
            inbox.process(RECEIVED, work -> {});

            assertThatThrownBy(() -> inbox.process(connection, RECEIVED, work -> {}))
                    .isInstanceOf(TransactionConflictException.class);

            assertThat(inbox.process(connection, RECEIVED, work -> {}).isDuplicate())
                    .as("it was rolled back for its owner, who can begin again")
                    .isTrue();
        }
    }

    @Test
    void duplicateInATransactionOfOurOwnIsTriedAgainWithANewSnapshot() throws Exception {
        execute("ALTER DATABASE " + database.name() + " SET default_transaction_isolation = 'repeatable read'");
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        AtomicInteger runs = new AtomicInteger();
        ExecutorService threads = Executors.newCachedThreadPool();
        try (Postrider postrider = migrated()) {
            Inbox inbox = postrider.inbox("billing");
            Future<ProcessResult> first = threads.submit(() -> inbox.process(RECEIVED, work -> {
                runs.incrementAndGet();
                inside.countDown();
                go.await(60, TimeUnit.SECONDS);
            }));
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
            Future<ProcessResult> second =
                    threads.submit(() -> inbox.process(RECEIVED, work -> runs.incrementAndGet()));
            awaitLockWait();
            go.countDown();

            assertThat(first.get(60, TimeUnit.SECONDS).isProcessed()).isTrue();
            assertThat(second.get(60, TimeUnit.SECONDS).isDuplicate()).isTrue();
            assertThat(runs.get()).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
    }

    private void awaitLockWait() throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            boolean waits = false;
            while (!waits) {
                assertThat(System.nanoTime()).as("no session waits").isLessThan(deadline);
                try (ResultSet row = statement.executeQuery("SELECT COUNT(*) > 0 FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND wait_event_type = 'Lock'")) {
                    row.next();
                    waits = row.getBoolean(1);
                }
            }
        }
    }

    private Postrider migrated() {
        Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build();
        postrider.migrate();
        return postrider;
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** The lock on a table is taken before a statement could say how long it waits. */
    @Test
    void claimOfACommandWaitsForALockedTableOnlySoLong() throws SQLException {
        migrated().close();
        Postrider postrider = Postrider.on(dataSource)
                .dispatch(options -> options.lease(Duration.ofSeconds(6)).pollInterval(Duration.ofSeconds(1)))
                .build();
        Commands commands = postrider.commands();
        Command<String> command = Command.named("locked")
                .anyCaller()
                .key(UUID.randomUUID().toString())
                .fingerprint("f")
                .returningText();
        try (Connection holder = dataSource.getConnection();
                Statement lock = holder.createStatement()) {
            holder.setAutoCommit(false);
            lock.execute("LOCK TABLE postrider_command IN ACCESS EXCLUSIVE MODE");
            assertThatThrownBy(() -> commands.run(command, tx -> "a")).isInstanceOf(TransactionConflictException.class);
            holder.rollback();
        }
        assertThat(commands.run(command, tx -> "b").orElseThrow()).isEqualTo("b");
        postrider.close();
    }

    @Test
    void lockedArchiveDoesNotStopTopicsWithoutOne() throws Exception {
        migrated().close();
        CountDownLatch failed = new CountDownLatch(1);
        CountDownLatch withoutArchive = new CountDownLatch(2);
        CountDownLatch withArchive = new CountDownLatch(2);
        List<String> names = List.of("kept", "kept-ordered", "gone", "gone-ordered");
        PostriderBuilder builder = Postrider.on(dataSource)
                .dispatch(options -> options.lease(Duration.ofSeconds(2)).pollInterval(Duration.ofMillis(100)))
                .listener(event -> {
                    if (event instanceof Event.Delivered written) {
                        boolean isKept = written.message().topic().toString().startsWith("kept");
                        (isKept ? withArchive : withoutArchive).countDown();
                    } else if (event instanceof Event.StoreFailed) {
                        failed.countDown();
                    }
                });
        names.forEach(name -> builder.topic(
                name,
                topic -> (name.endsWith("ordered") ? topic.ordered() : topic)
                        .archive(name.startsWith("gone") ? TableOptions.Archive.OFF : TableOptions.Archive.FULL)
                        .deliver(attempt -> {})));
        try (Postrider postrider = builder.build();
                Connection holder = dataSource.getConnection();
                Statement lock = holder.createStatement()) {
            postrider.start();
            holder.setAutoCommit(false);
            lock.execute("LOCK TABLE postrider_archive IN SHARE MODE");
            names.stream().filter(name -> name.startsWith("kept")).forEach(name -> enqueue(postrider, name));
            assertThat(failed.await(30, TimeUnit.SECONDS)).isTrue();

            names.stream().filter(name -> name.startsWith("gone")).forEach(name -> enqueue(postrider, name));
            assertThat(withoutArchive.await(30, TimeUnit.SECONDS)).isTrue();

            assertThat(withArchive.getCount()).isEqualTo(2);
            holder.rollback();
            assertThat(withArchive.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static void enqueue(Postrider postrider, String topic) {
        postrider.inTransaction(work -> {
            work.outbox().enqueue(Message.to(topic).type("x").key("k").text("").build());
        });
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
