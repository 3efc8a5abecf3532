package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.WatchedDataSource;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.Delivery;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** The last INSERT of a transaction and its commit in one request: every answer and every error is that of two requests. */
final class CommitWithInsertTest {

    /** More transactions than the driver needs to prepare a statement on the server. */
    private static final int MANY = 12;

    private final Database database =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("commit");
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Records the texts that are executed. */
    private static final class Recorder extends WatchedDataSource {

        final List<String> texts = new CopyOnWriteArrayList<>();

        Recorder(DataSource target) {
            super(target);
        }

        @Override
        protected Object on(Call call) throws Throwable {
            String sql = call.sql();
            if (call.isCommit()) {
                texts.add("commit()");
            } else if (call.isExecution() && sql != null) {
                texts.add(sql);
            }
            return call.proceed();
        }

        long requests() {
            return texts.stream()
                    .filter(text -> text.contains("INSERT INTO") && text.endsWith("COMMIT"))
                    .count();
        }

        long commits() {
            return texts.stream().filter("commit()"::equals).count();
        }
    }

    private final Recorder recorder = new Recorder(database.dataSource());

    @BeforeEach
    void createTables() throws SQLException {
        postrider(database.dataSource(), true);
        execute("CREATE TABLE purchase (id INT PRIMARY KEY)");
        execute("CREATE TABLE line (id INT REFERENCES purchase DEFERRABLE INITIALLY DEFERRED)");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    @Test
    void insertAndCommitAreOneRequestAndThePoolSeesTheCommit() throws SQLException {
        Postrider postrider = postrider(recorder, true);

        for (int i = 1; i <= MANY; i++) {
            buy(postrider, i, message());
        }
        buy(postrider, MANY + 1, message(), message(), message());

        assertThat(recorder.requests()).isEqualTo(MANY + 1);
        assertThat(recorder.commits()).isEqualTo(MANY + 1);
        assertThat(count("purchase")).isEqualTo(MANY + 1);
        assertThat(count("postrider_message")).isEqualTo(MANY + 3);
        assertThat(number("SELECT count(DISTINCT seq) FROM postrider_message WHERE state = 'PENDING'"))
                .isEqualTo(MANY + 3);
    }

    @Test
    void switchedOffTheyAreTwo() throws SQLException {
        Postrider postrider = postrider(recorder, false);

        buy(postrider, 1, message());

        assertThat(recorder.texts).noneMatch(text -> text.contains("COMMIT") || text.contains("SAVEPOINT"));
        assertThat(recorder.commits()).isEqualTo(1);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void keyedScheduledAndManyMessagesAreCommittedByThemselves() throws SQLException {
        Postrider postrider = postrider(recorder, true);

        buy(
                postrider,
                1,
                Message.to("t").type("x").text("y").idempotencyKey("k").build());
        buy(
                postrider,
                2,
                Message.to("t")
                        .type("x")
                        .text("y")
                        .deliverAt(Instant.now().plusSeconds(60))
                        .build());
        buy(postrider, 3, messages(9));
        buy(postrider, 4);
        postrider.inTransaction(work -> {
            purchase(work, 5);
            work.outbox().enqueue(message());
        });

        assertThat(recorder.requests()).isZero();
        assertThat(count("purchase")).isEqualTo(5);
        assertThat(count("postrider_message")).isEqualTo(12);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "prepareThreshold=0",
                "prepareThreshold=1",
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "preferQueryMode=extendedCacheEverything",
                "autosave=always",
                "autosave=always&cleanupSavepoints=true",
                "autosave=conservative"
            })
    void answersAreTheSameWithEverySettingOfTheDriver(String setting) throws SQLException {
        Recorder own = new Recorder(driver(setting));
        Postrider postrider = postrider(own, true);
        Message again = message();

        for (int i = 1; i <= MANY; i++) {
            int first = 2 * i;
            buy(postrider, first, again);
            assertThat(answers(postrider, first + 1, again, message()))
                    .extracting(Enqueued::isDuplicate)
                    .containsExactly(true, false);
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        execute(work.connection(), "INSERT INTO line VALUES (-1)");
                        work.stage(message());
                    }))
                    .isExactlyInstanceOf(StoreException.class)
                    .hasMessageContaining("23503");
            assertThatThrownBy(() -> buy(postrider, 2, message()))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("purchase_pkey");
        }

        boolean refused = setting.equals("autosave=always") || setting.equals("preferQueryMode=simple");
        assertThat(own.requests() > 0).isEqualTo(!refused);
        assertThat(count("purchase")).isEqualTo(2 * MANY);
        assertThat(count("line")).isZero();
        assertThat(count("postrider_message")).isEqualTo(1 + MANY);
    }

    @Test
    void messageStagedTwiceInOneTransactionIsADuplicate() throws SQLException {
        Message twice = message();

        assertThat(answers(postrider(recorder, true), 1, twice, twice))
                .extracting(Enqueued::isDuplicate)
                .containsExactly(false, true);
        assertThat(count("purchase")).isEqualTo(1);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void idOfAnotherLiveMessageIsRefusedAndNothingIsCommitted() throws SQLException {
        Postrider postrider = postrider(recorder, true);
        Message first = message();
        buy(postrider, 1, first);

        Message other = Message.to("t").id(first.id()).type("x").text("another").build();

        assertThatThrownBy(() -> buy(postrider, 2, other)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> buy(postrider, 3, message(), other)).isInstanceOf(InvalidMessageException.class);
        assertThat(recorder.requests()).isEqualTo(3);
        assertThat(count("purchase")).isEqualTo(1);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void errorsAreThoseOfTwoRequests() throws SQLException {
        execute("ALTER TABLE postrider_message ADD CONSTRAINT good CHECK (type <> 'bad')");
        Message bad = Message.to("t").type("bad").text("y").build();
        List<Postrider.Task<Exception>> tasks = List.of(
                work -> work.stage(bad),
                work -> {
                    execute(work.connection(), "INSERT INTO line VALUES (-1)");
                    work.stage(message());
                },
                work -> {
                    execute(work.connection(), "SET TRANSACTION READ ONLY");
                    work.stage(message());
                },
                work -> {
                    assertThatThrownBy(() -> execute(work.connection(), "SELECT 1 / 0"));
                    work.stage(message());
                },
                work -> {
                    Connection driver = (Connection) work.connection().unwrap(PGConnection.class);
                    assertThatThrownBy(() -> execute(driver, "SELECT 1 / 0"));
                    work.stage(message());
                },
                work -> {
                    assertThatThrownBy(() -> work.connection().commit());
                    work.stage(message());
                });
        Postrider one = postrider(recorder, true);
        Postrider two = postrider(database.dataSource(), false);

        for (Postrider.Task<Exception> task : tasks) {
            Throwable expected = catchThrowable(() -> two.inTransaction(task));
            Throwable actual = catchThrowable(() -> one.inTransaction(task));
            assertThat(actual).hasSameClassAs(expected);
            assertThat(withoutNumbers(actual)).isEqualTo(withoutNumbers(expected));
        }
        assertThat(count("postrider_message")).isZero();
        assertThat(count("line")).isZero();
    }

    /** The driver is not asked about a failed statement of a function, so the guard of the connection cannot see it. */
    @Test
    void transactionThatAnUnseenErrorAbortedIsReportedAsAborted() throws SQLException {
        List<Connection> seen = new ArrayList<>();
        DataSource leaking = new WatchedDataSource(database.dataSource()) {
            @Override
            protected Object on(Call call) throws Throwable {
                seen.add(call.connection());
                return call.proceed();
            }
        };

        assertThatThrownBy(() -> postrider(leaking, true).inTransaction(work -> {
                    purchase(work, 1);
                    assertThatThrownBy(() -> execute(seen.get(seen.size() - 1), "SELECT 1 / 0"));
                    work.stage(message());
                }))
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(Problem.ABORTED));
        assertThat(count("purchase")).isZero();
    }

    @Test
    void savepointsOfTheWorkAreKeptUntilTheCommit() throws SQLException {
        Postrider postrider = postrider(recorder, true);
        Message again = message();

        for (int i = 0; i < 2; i++) {
            int id = i * 10;
            postrider.inTransaction(work -> {
                purchase(work, id + 1);
                Savepoint before = work.connection().setSavepoint("postrider_insert");
                purchase(work, id + 2);
                work.connection().rollback(before);
                purchase(work, id + 3);
                work.stage(again);
            });
        }

        assertThat(recorder.requests()).isEqualTo(2);
        assertThat(number("SELECT sum(id) FROM purchase")).isEqualTo(1 + 3 + 11 + 13);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void conflictOfSerializableTransactionsIsReportedAsSuch() throws SQLException {
        Postrider postrider = postrider(recorder, true);
        execute("INSERT INTO purchase VALUES (1), (2)");
        buy(postrider, 10, message()); // reads the topic

        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    serializableCount(work.connection());
                    try (Connection other = database.dataSource().getConnection()) {
                        other.setAutoCommit(false);
                        serializableCount(other);
                        execute(other, "INSERT INTO purchase VALUES (3)");
                        execute(work.connection(), "INSERT INTO purchase VALUES (4)");
                        other.commit();
                    }
                    work.stage(message());
                }))
                .isInstanceOf(TransactionConflictException.class);

        assertThat(recorder.requests()).isEqualTo(2);
        assertThat(number("SELECT sum(id) FROM purchase")).isEqualTo(1 + 2 + 10 + 3);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void lostAnswerIsInDoubtAndLeavesRowAndMessageTogether() throws Exception {
        try (FaultyProxy proxy = FaultyProxy.before(database.jdbcUrl())) {
            Postrider postrider = postrider(new Recorder(driver(proxy.jdbcUrl(), "prepareThreshold=0")), true);
            buy(postrider, 1, message());
            Future<Integer> lost = proxy.loseAnswerTo("COMMIT");

            assertThatThrownBy(() -> buy(postrider, 2, message()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageStartingWith("Could not run the transaction");
            lost.get(60, TimeUnit.SECONDS);

            assertThat(count("purchase")).isEqualTo(2);
            assertThat(count("postrider_message")).isEqualTo(2);
        }
    }

    @Test
    void cutBeforeTheRequestLeavesNothing() throws Exception {
        try (FaultyProxy proxy = FaultyProxy.before(database.jdbcUrl())) {
            Postrider postrider = postrider(driver(proxy.jdbcUrl(), ""), true);
            buy(postrider, 1, message());

            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        purchase(work, 2);
                        work.stage(message());
                        proxy.cut();
                    }))
                    .isInstanceOf(StoreUnavailableException.class);

            assertThat(count("purchase")).isEqualTo(1);
            assertThat(count("postrider_message")).isEqualTo(1);
        }
    }

    @Test
    void sessionThatTheServerEndsBeforeTheRequestLeavesNothing() throws Exception {
        assertThatThrownBy(() -> postrider(recorder, true).inTransaction(work -> {
                    purchase(work, 1);
                    work.stage(message());
                    long session = number(work.connection(), "SELECT pg_backend_pid()");
                    execute("SELECT pg_terminate_backend(" + session + ", 60000)");
                }))
                .isInstanceOf(StoreUnavailableException.class);

        assertThat(recorder.requests()).isEqualTo(1);
        assertThat(count("purchase")).isZero();
        assertThat(count("postrider_message")).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void poolGetsACleanConnectionBack(boolean autoCommit) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setDataSource(recorder);
        config.setMaximumPoolSize(2);
        config.setAutoCommit(autoCommit);
        HikariDataSource pool = new HikariDataSource(config);
        opened.add(pool);
        Postrider postrider = postrider(pool, true);
        Message again = message();

        for (int i = 1; i <= MANY; i++) {
            buy(postrider, i, again);
            assertThat(number("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND state LIKE 'idle in transaction%'"))
                    .isZero();
        }

        assertThat(recorder.requests())
                .as("the first commit precedes the trial")
                .isEqualTo(autoCommit ? MANY : MANY - 1);
        assertThat(count("purchase")).isEqualTo(MANY);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    /** A pool without autocommit: its wrapper has begun the transaction, and the trial would commit what it has set for it. */
    @Test
    void trialEndsNoTransactionThatTheDataSourceHasBegun() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setDataSource(recorder);
        config.setAutoCommit(false);
        HikariDataSource pool = new HikariDataSource(config) {
            @Override
            public Connection getConnection() throws SQLException {
                Connection connection = super.getConnection();
                execute(connection, "SELECT set_config('app.tenant', 'acme', TRUE)");
                return connection;
            }
        };
        opened.add(pool);
        execute("CREATE TABLE visit (tenant TEXT DEFAULT current_setting('app.tenant', TRUE))");
        Postrider postrider = postrider(pool, true);

        for (int i = 0; i < 3; i++) {
            postrider.inTransaction(work -> {
                execute(work.connection(), "INSERT INTO visit DEFAULT VALUES");
                work.stage(message());
            });
        }

        assertThat(number("SELECT count(*) FROM visit WHERE tenant = 'acme'")).isEqualTo(3);
        assertThat(recorder.requests()).isEqualTo(2);
    }

    /** A text that the guard does not know removes the server's prepared statements, so that the SAVEPOINT of the request fails. */
    @Test
    void savepointOfTheWorkIsNotTakenForThatOfTheRequest() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setDataSource(driver("prepareThreshold=1"));
        config.setMaximumPoolSize(1);
        HikariDataSource pool = new HikariDataSource(config);
        opened.add(pool);
        Postrider postrider = postrider(pool, true);
        for (int i = 1; i <= 3; i++) {
            buy(postrider, i, message());
        }

        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    work.connection().setSavepoint("postrider_insert");
                    purchase(work, 4);
                    execute(work.connection(), "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");
                    work.stage(message());
                }))
                .isInstanceOf(StoreException.class);

        assertThat(count("purchase")).isEqualTo(3);
        assertThat(count("postrider_message")).isEqualTo(3);
    }

    @Test
    void statementThatTheServerCancelsIsNotRepeated() throws SQLException {
        Postrider postrider = postrider(recorder, true);
        buy(postrider, 1, message());
        Message locked = message();
        try (Connection other = database.dataSource().getConnection()) {
            other.setAutoCommit(false);
            postrider.outbox(other).enqueue(locked);
            recorder.texts.clear();

            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        execute(work.connection(), "SET LOCAL statement_timeout = 200");
                        work.stage(locked);
                    }))
                    .hasMessageContaining("57014");
            other.rollback();
        }

        assertThat(recorder.texts)
                .filteredOn(text -> text.contains("INSERT INTO"))
                .hasSize(1);
    }

    @Test
    void refusalOfTheDataSourcesCommitComesTooLate() throws SQLException {
        AtomicBoolean refuses = new AtomicBoolean();
        DataSource refusing = new WatchedDataSource(database.dataSource()) {
            @Override
            protected Object on(Call call) throws Throwable {
                if (call.isCommit() && refuses.get()) {
                    throw new SQLException("marked for rollback");
                }
                return call.proceed();
            }
        };

        Postrider postrider = postrider(refusing, true);
        refuses.set(true);

        buy(postrider, 1, message());

        assertThat(count("purchase")).isEqualTo(1);
        assertThat(count("postrider_message")).isEqualTo(1);
    }

    @Test
    void rowsAreNotFetchedAfterTheCommit() throws Exception {
        Recorder few = new Recorder(driver("defaultRowFetchSize=1"));
        RecordingTransport transport = new RecordingTransport();
        Postrider postrider = Postrider.on(few)
                .dispatchOn(database.dataSource())
                .topic("t", topic -> topic.deliver(transport))
                .build();
        opened.add(postrider);
        postrider.start();

        buy(postrider, 1, message());
        buy(postrider, 2, message());

        transport.await(2, Duration.ofSeconds(60));
        assertThat(few.requests()).isEqualTo(2);
    }

    @Test
    void messagesThatAreTooLargeForOneStatementAreCommittedByThemselves() throws SQLException {
        Postrider postrider = postrider(recorder, true);
        Message[] large = new Message[5];
        for (int i = 0; i < large.length; i++) {
            large[i] = Message.to("t").type("x").text("y".repeat(1 << 20)).build();
        }

        buy(postrider, 1, large);

        assertThat(recorder.requests()).isZero();
        assertThat(count("postrider_message")).isEqualTo(large.length);
    }

    @Test
    void localHandOverGetsItsLease() throws Exception {
        RecordingTransport transport = new RecordingTransport();
        Postrider postrider = Postrider.on(recorder)
                .dispatchOn(database.dataSource())
                .topic("t", topic -> topic.deliver(transport))
                .build();
        opened.add(postrider);
        postrider.start();

        for (int i = 1; i <= MANY; i++) {
            buy(postrider, i, message());
        }

        List<Delivery> deliveries = transport.await(MANY, Duration.ofSeconds(60));
        assertThat(deliveries).extracting(Delivery::attempt).containsOnly(1).hasSize(MANY);
        assertThat(recorder.requests()).isEqualTo(MANY);
        assertThat(recorder.texts).anyMatch(text -> text.contains("lease_token") && text.endsWith("COMMIT"));
    }

    @Test
    void messageOfAPausedOrRemovedTopicIsNotLeased() throws Exception {
        Postrider postrider = Postrider.on(recorder)
                .dispatchOn(database.dataSource())
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build();
        opened.add(postrider);
        postrider.start();
        execute("UPDATE postrider_topic SET paused = TRUE");
        buy(postrider, 1, message());
        assertThat(number("SELECT count(*) FROM postrider_message WHERE state = 'PENDING' AND lease_token IS NULL"))
                .isEqualTo(1);
        execute("DELETE FROM postrider_topic");
        buy(postrider, 2, message());

        assertThat(number("SELECT (SELECT count(*) FROM postrider_message) + (SELECT count(*) FROM postrider_archive)"))
                .isEqualTo(2);
        assertThat(recorder.requests()).isEqualTo(2);
    }

    @Test
    void discardedRowIsNotReportedAsWritten() throws SQLException {
        execute("CREATE FUNCTION discard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
        execute("CREATE TRIGGER discard BEFORE INSERT ON postrider_message FOR EACH ROW EXECUTE FUNCTION discard()");

        assertThatThrownBy(() -> buy(postrider(recorder, true), 1, message()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("committed with 0 of its 1 staged messages");
    }

    private Postrider postrider(DataSource dataSource, boolean commitWithInsert) {
        Postrider postrider = Postrider.on(dataSource)
                .tables(tables -> tables.commitWithInsert(commitWithInsert))
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build();
        opened.add(postrider);
        postrider.migrate();
        recorder.texts.clear();
        return postrider;
    }

    private DataSource driver(String setting) {
        return driver(database.jdbcUrl(), setting);
    }

    private DataSource driver(String url, String setting) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL(url + (url.contains("?") ? "&" : "?") + setting);
        dataSource.setUser(database.user());
        dataSource.setPassword(database.password());
        return dataSource;
    }

    /** Of two requests, the error says which one failed. */
    private static String withoutNumbers(Throwable failure) {
        return String.valueOf(failure.getMessage())
                .replace("Could not run the transaction", "Could not write the message")
                .replaceAll("[0-9a-f]", "");
    }

    private static Message message() {
        return Message.to("t").type("x").text("y").build();
    }

    private static Message[] messages(int count) {
        Message[] messages = new Message[count];
        for (int i = 0; i < count; i++) {
            messages[i] = message();
        }
        return messages;
    }

    private static void buy(Postrider postrider, int id, Message... messages) throws SQLException {
        answers(postrider, id, messages);
    }

    private static List<Enqueued> answers(Postrider postrider, int id, Message... messages) throws SQLException {
        List<UnitOfWork> units = new ArrayList<>();
        postrider.inTransaction(work -> {
            purchase(work, id);
            work.stage(List.of(messages));
            units.add(work);
        });
        return units.get(0).staged();
    }

    private static void purchase(UnitOfWork work, int id) throws SQLException {
        execute(work.connection(), "INSERT INTO purchase VALUES (" + id + ")");
    }

    private static void serializableCount(Connection connection) throws SQLException {
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        number(connection, "SELECT count(*) FROM purchase");
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            execute(connection, sql);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long count(String table) throws SQLException {
        return number("SELECT count(*) FROM " + table);
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection()) {
            return number(connection, sql);
        }
    }

    private static long number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
