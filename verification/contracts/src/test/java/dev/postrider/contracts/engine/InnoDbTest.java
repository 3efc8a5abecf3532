package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.StoredMessage;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.outbox.Outbox;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.CommitHooks;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What only MySQL and MariaDB can get wrong. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
final class InnoDbTest {

    private final Engine engine;
    private final Database database;

    InnoDbTest(Engine engine) {
        this.engine = engine;
        this.database = Databases.assumeStarted(engine).createDatabase("innodb");
    }

    @Test
    void lockWaitTimeoutEndsTheTransactionSoThatNoBusinessRowIsLeftWithoutItsMessage() throws SQLException {
        DataSource dataSource = database.dataSource();
        execute("CREATE TABLE business (id INT PRIMARY KEY)");
        try (Postrider postrider = migrated(dataSource);
                Connection first = transaction(dataSource);
                Connection second = transaction(dataSource)) {
            postrider.outbox(first).enqueue(keyed());
            try (Statement statement = second.createStatement()) {
                statement.execute("SET SESSION innodb_lock_wait_timeout = 1");
                statement.execute("INSERT INTO business VALUES (1)");
            }
            assertThatThrownBy(() -> postrider.outbox(second).enqueue(keyed()))
                    .isInstanceOf(TransactionConflictException.class);
            second.commit(); // what a caller does who swallowed the exception
            first.rollback();
        }
        assertThat(number("SELECT COUNT(*) FROM business")).isZero();
        assertThat(number("SELECT COUNT(*) FROM postrider_dedup")).isZero();
    }

    /** Of which the first statement has been written by then. */
    @Test
    void batchWhoseSecondStatementFailsLeavesNothingThoughTheErrorIsSwallowed() throws SQLException {
        DataSource dataSource = database.dataSource();
        execute("CREATE TABLE business (id INT PRIMARY KEY)");
        try (Postrider postrider = migrated(dataSource);
                Connection connection = transaction(dataSource)) {
            execute("ALTER TABLE postrider_message ADD CONSTRAINT no_such_type CHECK (type <> 'refused')");
            List<Message> batch = new ArrayList<>();
            for (int i = 0; i < 700; i++) {
                batch.add(Message.to("t")
                        .type(i == 650 ? "refused" : "x")
                        .text("y")
                        .idempotencyKey("k" + i)
                        .build());
            }
            change(connection, "INSERT INTO business VALUES (1)");

            assertThatThrownBy(() -> postrider.outbox(connection).enqueueAll(batch))
                    .isInstanceOf(StoreException.class);
            connection.commit();
        }
        assertThat(number("SELECT COUNT(*) FROM business")).isEqualTo(1);
        assertThat(number("SELECT COUNT(*) FROM postrider_message")).isZero();
        assertThat(number("SELECT COUNT(*) FROM postrider_dedup")).isZero();
    }

    /** At REPEATABLE READ, which is the default of the server, a claim would lock what comes after the last message. */
    @Test
    void producerDoesNotWaitForAClaimThatIsUnderWay() throws SQLException {
        CommitHooks hooks = new CommitHooks(database.dataSource());
        AtomicInteger written = new AtomicInteger();
        try (Postrider postrider = migrated(hooks);
                Connection producer = transaction(database.dataSource())) {
            postrider.inTransaction(work -> work.stage(keyed()));
            try (Statement statement = producer.createStatement()) {
                statement.execute("SET SESSION innodb_lock_wait_timeout = 1");
            }
            hooks.beforeCommit(() -> {
                postrider
                        .outbox(producer)
                        .enqueue(Message.to("t").type("x").text("y").build());
                written.incrementAndGet();
            });

            assertThat(postrider.store().claim(ClaimRequest.of("t", "w"))).hasSize(1);

            assertThat(written).as("while the claim was not committed").hasPositiveValue();
            hooks.clear();
            producer.commit();
        }
    }

    /** The deadlock took the mark with it; whatever the handler did after that must not be committed without it. */
    @Test
    void handlerThatSwallowsADeadlockDoesNotCommitWithoutItsMark() throws Exception {
        DataSource dataSource = database.dataSource();
        execute("CREATE TABLE business (id INT PRIMARY KEY, touched INT NOT NULL)");
        execute("CREATE TABLE effect (id INT)");
        for (int id = 1; id <= 50; id++) {
            execute("INSERT INTO business VALUES (" + id + ", 0)");
        }
        Message received =
                Message.received("elsewhere", "17").type("x").text("y").build();
        AtomicInteger runs = new AtomicInteger();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Postrider postrider = migrated(dataSource);
                Connection rival = transaction(dataSource)) {
            // The rival has changed more rows, so that the handler is chosen to give way.
            change(rival, "UPDATE business SET touched = 1 WHERE id >= 2");
            ProcessResult result = postrider.inbox("billing").process(received, work -> {
                if (runs.incrementAndGet() == 1) {
                    change(work.connection(), "UPDATE business SET touched = 2 WHERE id = 1");
                    Future<?> rivalWaits = threads.submit(() -> {
                        change(rival, "UPDATE business SET touched = 1 WHERE id = 1");
                        rival.commit();
                        return true;
                    });
                    assertThatThrownBy(() -> change(work.connection(), "UPDATE business SET touched = 2 WHERE id = 2"))
                            .isInstanceOfSatisfying(
                                    SQLException.class,
                                    e -> assertThat(e.getErrorCode())
                                            .as("a deadlock")
                                            .isEqualTo(1213));
                    rivalWaits.get(60, TimeUnit.SECONDS);
                }
                change(work.connection(), "INSERT INTO effect VALUES (1)");
            });
            assertThat(result.isProcessed()).isTrue();
            assertThat(postrider.inbox("billing").process(received, work -> {}).isDuplicate())
                    .isTrue();
        } finally {
            threads.shutdownNow();
        }
        assertThat(runs.get()).isEqualTo(2);
        assertThat(number("SELECT COUNT(*) FROM effect")).isEqualTo(1);
    }

    /** The deadlock took the first statement with it, and the work did not mind. */
    @Test
    void workThatSwallowsADeadlockIsNotCommittedInHalf() throws Exception {
        DataSource dataSource = database.dataSource();
        effectTable();
        try (Postrider postrider = migrated(dataSource)) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        change(work.connection(), "INSERT INTO effect VALUES (1)");
                        loseADeadlock(work.connection());
                        change(work.connection(), "INSERT INTO effect VALUES (2)");
                        work.stage(keyed());
                    }))
                    .isInstanceOf(TransactionConflictException.class);
        }
        assertThat(number("SELECT COUNT(*) FROM effect")).isZero();
        assertThat(number("SELECT COUNT(*) FROM postrider_message")).isZero();
    }

    /** The server would commit before it. */
    @Test
    void ddlOfTheWorkIsRefusedAndNothingIsCommitted() throws Exception {
        effectTable();
        try (Postrider postrider = migrated(database.dataSource())) {
            for (String ddl : List.of("CREATE TABLE meanwhile (id INT)", "TRUNCATE TABLE effect")) {
                assertThatThrownBy(() -> postrider.inTransaction(work -> {
                            change(work.connection(), "INSERT INTO effect VALUES (1)");
                            change(work.connection(), ddl);
                        }))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(UnusableConnectionException.Problem.GUARDED));
            }
        }
        assertThat(number("SELECT COUNT(*) FROM effect")).isZero();
    }

    /** It is no conflict, after which all of it could be run again: the first row is committed. Nor is it an ordinary failure. */
    @Test
    void workThatEndsItsTransactionByAProcedureIsToldThatPartOfItMayBeCommitted() throws Exception {
        effectTable();
        execute("CREATE PROCEDURE ends_it() COMMIT");
        AtomicInteger id = new AtomicInteger();
        try (Postrider postrider = migrated(database.dataSource())) {
            for (boolean fails : List.of(false, true)) {
                assertThatThrownBy(() -> postrider.inTransaction(work -> {
                            change(work.connection(), "INSERT INTO effect VALUES (" + id.incrementAndGet() + ")");
                            change(work.connection(), "CALL ends_it()");
                            work.stage(keyed());
                            if (fails) {
                                throw new IllegalStateException("failed");
                            }
                        }))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(UnusableConnectionException.Problem.ENDED));
            }
        }
        assertThat(number("SELECT COUNT(*) FROM effect")).isEqualTo(2);
        assertThat(number("SELECT COUNT(*) FROM postrider_message")).isZero();
    }

    /** After a lock timeout the transaction is still there, unless the work has ended it. Then nothing may call for another run. */
    @Test
    void lockTimeoutAfterAProcedureWithCommitIsNoConflict() throws Exception {
        effectTable();
        execute("CREATE PROCEDURE ends_it() COMMIT");
        execute("CREATE PROCEDURE commits_and_waits() BEGIN INSERT INTO effect VALUES (1); COMMIT;"
                + " UPDATE business SET touched = 1 WHERE id = 1; END");
        Message received =
                Message.received("elsewhere", "17").type("x").text("y").build();
        AtomicInteger runs = new AtomicInteger();
        try (Postrider postrider = migrated(with("sessionVariables=innodb_lock_wait_timeout=1"));
                Connection rival = transaction(database.dataSource())) {
            change(rival, "UPDATE business SET touched = 2 WHERE id = 1");
            List<ThrowableAssert.ThrowingCallable> calls = List.of(
                    () -> postrider.inbox("billing").process(received, work -> {
                        runs.incrementAndGet();
                        try {
                            change(work.connection(), "CALL ends_it()");
                        } catch (UnusableConnectionException e) {
                            throw new SQLException("as a lock timeout", "HY000", 1205, e);
                        }
                    }),
                    () -> postrider.inTransaction(work -> {
                        runs.incrementAndGet();
                        change(work.connection(), "CALL commits_and_waits()");
                    }));
            for (ThrowableAssert.ThrowingCallable call : calls) {
                assertThatThrownBy(call)
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(UnusableConnectionException.Problem.ENDED));
            }
            assertThatThrownBy(() -> postrider.inTransaction(
                            work -> change(work.connection(), "UPDATE business SET touched = 1 WHERE id = 1")))
                    .as("an ordinary lock timeout")
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getErrorCode()).isEqualTo(1205));
            rival.rollback();
        }
        assertThat(runs).hasValue(2);
        assertThat(number("SELECT COUNT(*) FROM effect")).isEqualTo(1);
    }

    @Test
    void textIsJudgedByTheTransactionAndNotByItsWords() throws Exception {
        effectTable();
        execute("CREATE PROCEDURE harmless() SELECT 1");
        List<String> legitimate = new ArrayList<>(List.of(
                "SELECT 1 # x; COMMIT later",
                "SET @old = @@autocommit",
                "SET autocommit = 0",
                "XA RECOVER",
                "CREATE TEMPORARY TABLE some (id INT)",
                "DROP TEMPORARY TABLE IF EXISTS some",
                "CALL harmless()",
                "{call harmless()}"));
        legitimate.addAll(
                engine == Engine.MYSQL_8_0
                        ? List.of("LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE")
                        : List.of(
                                "ANALYZE SELECT 1",
                                "ANALYZE FORMAT=JSON SELECT 1",
                                "CREATE OR REPLACE TEMPORARY TABLE some (id INT)",
                                "BEGIN NOT ATOMIC SELECT 1; END",
                                "IF 1 THEN SELECT 1; END IF",
                                "FOR i IN 1..2 DO INSERT INTO effect VALUES (2); END FOR"));
        try (Postrider postrider = migrated(database.dataSource())) {
            for (String sql : legitimate) {
                postrider.inTransaction(work -> {
                    change(work.connection(), "INSERT INTO effect VALUES (1)");
                    if (sql.startsWith("{")) {
                        try (CallableStatement call = work.connection().prepareCall(sql)) {
                            call.execute();
                        }
                        return;
                    }
                    try (Statement statement = work.connection().createStatement()) {
                        statement.execute(sql);
                    }
                });
            }
            assertThat(number("SELECT COUNT(*) FROM effect WHERE id = 1")).isEqualTo(legitimate.size());
            for (String sql : List.of("SET `autocommit`=1", "SET @@session.autocommit = ON")) {
                assertThatThrownBy(() -> postrider.inTransaction(work -> change(work.connection(), sql)))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(UnusableConnectionException.Problem.GUARDED));
            }
        }
    }

    /** The price of a proof by a savepoint: the return removes it, as an end would. Nothing is committed, so it is on the safe side. */
    @Test
    void procedureThatReturnsToASavepointOfItsCallerIsTakenForAnEnd() throws Exception {
        effectTable();
        execute("CREATE PROCEDURE returns_to_caller() ROLLBACK TO SAVEPOINT a");
        execute("CREATE PROCEDURE returns_to_its_own()"
                + " BEGIN SAVEPOINT b; INSERT INTO effect VALUES (2); ROLLBACK TO SAVEPOINT b; END");
        try (Postrider postrider = migrated(database.dataSource())) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        change(work.connection(), "INSERT INTO effect VALUES (1)");
                        change(work.connection(), "SAVEPOINT a");
                        change(work.connection(), "CALL returns_to_caller()");
                    }))
                    .isInstanceOfSatisfying(
                            UnusableConnectionException.class,
                            e -> assertThat(e.problem()).isEqualTo(UnusableConnectionException.Problem.ENDED));
            assertThat(number("SELECT COUNT(*) FROM effect")).isZero();

            postrider.inTransaction(work -> {
                change(work.connection(), "INSERT INTO effect VALUES (1)");
                change(work.connection(), "SAVEPOINT a");
                change(work.connection(), "CALL returns_to_its_own()");
                change(work.connection(), "ROLLBACK TO SAVEPOINT a");
            });
        }
        assertThat(number("SELECT COUNT(*) FROM effect")).isEqualTo(1);
    }

    /** A retry would run the committed part again. */
    @Test
    void commandThatEndsItsTransactionByAProcedureIsUncertain() throws Exception {
        effectTable();
        execute("CREATE PROCEDURE ends_it() COMMIT");
        try (Postrider postrider = migrated(database.dataSource())) {
            assertThatThrownBy(() -> postrider.commands().run(command(), work -> {
                        change(work.connection(), "INSERT INTO effect VALUES (1)");
                        change(work.connection(), "CALL ends_it()");
                        throw new IllegalStateException("failed");
                    }))
                    .isInstanceOf(UnusableConnectionException.class);

            assertThat(postrider.commands().run(command(), work -> "again"))
                    .isInstanceOf(CommandResult.Uncertain.class);
        }
    }

    @Test
    void commandThatSwallowsADeadlockIsNotCompletedInHalf() throws Exception {
        DataSource dataSource = database.dataSource();
        effectTable();
        try (Postrider postrider = migrated(dataSource)) {
            assertThatThrownBy(() -> postrider.commands().run(command(), work -> {
                        change(work.connection(), "INSERT INTO effect VALUES (1)");
                        loseADeadlock(work.connection());
                        change(work.connection(), "INSERT INTO effect VALUES (2)");
                        return "done";
                    }))
                    .isInstanceOf(TransactionConflictException.class);
            assertThat(number("SELECT COUNT(*) FROM effect")).isZero();

            postrider.commands().run(command(), work -> {
                change(work.connection(), "INSERT INTO effect VALUES (1)");
                return "done";
            });
        }
        assertThat(number("SELECT COUNT(*) FROM effect")).isEqualTo(1);
    }

    /** Neither by an exception of its own: what the caller wrote before the call is gone in any case. */
    @Test
    void joinedCommandThatSwallowsADeadlockTakesTheCallersTransactionWithIt() throws Exception {
        DataSource dataSource = database.dataSource();
        effectTable();
        for (boolean failing : new boolean[] {false, true}) {
            try (Postrider postrider = migrated(dataSource);
                    Connection connection = transaction(dataSource)) {
                change(connection, "INSERT INTO effect VALUES (1)");
                assertThatThrownBy(() -> postrider.commands().join(connection, command(), work -> {
                            loseADeadlock(work.connection());
                            change(work.connection(), "INSERT INTO effect VALUES (2)");
                            if (failing) {
                                throw new IllegalStateException("failed for another reason");
                            }
                            return "done";
                        }))
                        .isInstanceOf(TransactionConflictException.class);
                connection.commit(); // what a caller does who swallowed the exception
            }
            assertThat(number("SELECT COUNT(*) FROM effect")).isZero();
            assertThat(number("SELECT COUNT(*) FROM postrider_command")).isZero();
        }
    }

    private static Command<String> command() {
        return Command.named("pay").caller("ada").key("k-1").fingerprint("{}").returningText();
    }

    private void effectTable() throws SQLException {
        execute("CREATE TABLE business (id INT PRIMARY KEY, touched INT NOT NULL)");
        execute("CREATE TABLE effect (id INT)");
        for (int id = 1; id <= 50; id++) {
            execute("INSERT INTO business VALUES (" + id + ", 0)");
        }
    }

    /** A rival that has changed more rows wins against the transaction of this connection, whose code goes on all the same. */
    private void loseADeadlock(Connection connection) throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Connection rival = transaction(database.dataSource())) {
            change(rival, "UPDATE business SET touched = touched + 1 WHERE id >= 2");
            change(connection, "UPDATE business SET touched = touched + 1 WHERE id = 1");
            Future<?> rivalWaits = threads.submit(() -> {
                change(rival, "UPDATE business SET touched = touched + 1 WHERE id = 1");
                rival.commit();
                return true;
            });
            assertThatThrownBy(() -> change(connection, "UPDATE business SET touched = touched + 1 WHERE id = 2"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getErrorCode()).as("a deadlock").isEqualTo(1213));
            rivalWaits.get(60, TimeUnit.SECONDS);
        } finally {
            threads.shutdownNow();
        }
    }

    private static void change(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(sql);
        }
    }

    @Test
    void messageTakesOneStatementAndItsKeyOneMore() throws SQLException {
        DataSource dataSource = database.dataSource();
        try (Postrider postrider = migrated(dataSource);
                Connection connection = transaction(dataSource)) {
            Outbox outbox = postrider.outbox(connection);
            outbox.enqueue(Message.to("t").type("x").text("y").build()); // looks up the topic

            assertThat(statements(
                            connection,
                            () -> outbox.enqueue(
                                    Message.to("t").type("x").text("y").build())))
                    .isEqualTo(1);
            assertThat(statements(connection, () -> outbox.enqueue(keyed()))).isEqualTo(2);
            assertThat(statements(connection, () -> outbox.enqueue(keyed())))
                    .as("taken: the mark is refused, and says whose it is")
                    .isEqualTo(2);
            connection.rollback();
        }
    }

    /** How many statements the server got on this connection meanwhile. */
    private static long statements(Connection connection, Runnable work) throws SQLException {
        long before = questions(connection);
        work.run();
        return questions(connection) - before - 1; // but for the question itself
    }

    private static long questions(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW SESSION STATUS LIKE 'Questions'")) {
            row.next();
            return row.getLong(2);
        }
    }

    @Test
    void serverThatTruncatesSilentlyGetsNothingTooLong() throws SQLException {
        DataSource lenient = with("sessionVariables=sql_mode=''");
        try (Postrider postrider = migrated(lenient)) {
            Message message = Message.to("t")
                    .type("t".repeat(255))
                    .tenant("😀".repeat(127))
                    .key("k".repeat(255))
                    .idempotencyKey("i".repeat(255))
                    .subject("s".repeat(500))
                    .text("x")
                    .build();
            postrider.inTransaction(work -> work.stage(message));
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w")))
                    .singleElement()
                    .satisfies(claim -> assertThat(claim.message()).isEqualTo(message));
        }
    }

    @Test
    void driverThatCountsChangedRowsInsteadOfMatchedOnesMakesNoDifference() throws SQLException {
        DataSource counting = with("useAffectedRows=true");
        try (Postrider postrider = migrated(counting)) {
            postrider.inTransaction(work -> work.stage(keyed()));
            assertThat(postrider
                            .callInTransaction(work -> work.outbox().enqueue(keyed()))
                            .isDuplicate())
                    .isTrue();
            postrider.admin().pause(dev.postrider.message.TopicName.of("t"), "me");
            postrider.admin().pause(dev.postrider.message.TopicName.of("t"), "me");
            postrider.admin().resume(dev.postrider.message.TopicName.of("t"), "me");
            var claim = postrider.store().claim(ClaimRequest.of("t", "w")).get(0);
            assertThat(postrider
                            .store()
                            .extend(java.util.List.of(claim), claim.lease().length()))
                    .noneMatch(Settlement::isLost);
            assertThat(postrider.store().acknowledge(claim).isLost()).isFalse();
        }
    }

    @Test
    void sessionInAnotherTimeZoneSeesTheSameTimes() throws SQLException {
        DataSource elsewhere = with("sessionVariables=time_zone='-09:30'");
        Message message = Message.to("t").type("x").text("y").build();
        try (Postrider postrider = migrated(elsewhere)) {
            postrider.inTransaction(work -> work.stage(message));
        }
        try (Postrider postrider = migrated(database.dataSource())) {
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w")))
                    .singleElement()
                    .satisfies(claim -> assertThat(claim.message()).isEqualTo(message));
        }
    }

    @Test
    void databaseWithAnotherCharacterSetMakesNoDifference() throws SQLException {
        execute("ALTER DATABASE " + database.name() + " CHARACTER SET latin1 COLLATE latin1_swedish_ci");
        Message message = Message.to("t").type("ключ").tenant("Ä").text("😀").build();
        try (Postrider postrider = migrated(database.dataSource())) {
            postrider.inTransaction(work -> work.stage(message));
            assertThat(postrider.store().claim(ClaimRequest.of("t", "w")))
                    .singleElement()
                    .satisfies(claim -> assertThat(claim.message()).isEqualTo(message));
        }
    }

    @Test
    void readOnlyServerIsRefusedAtStart() throws SQLException {
        // A server of its own: the setting is for all of it.
        try (var server = Databases.startOrAbort(engine)) {
            Database own = server.createDatabase("readonly");
            try (Postrider postrider = migrated(own.dataSource())) {
                try (Connection connection = server.dataSource().getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("SET GLOBAL read_only = 1");
                }
                assertThatThrownBy(postrider::start)
                        .isInstanceOf(InvalidConfigurationException.class)
                        .hasMessageContaining("read-only");
            }
        }
    }

    /** MariaDB's own driver refuses all but the kinds of UTF-8, of which the old one loses what has four bytes. */
    @Test
    void connectionThatLosesCharactersIsRefusedWithTheFix() {
        String lossy = engine == Engine.MYSQL_8_0 ? "latin1" : "utf8mb3";
        DataSource losing = engine == Engine.MYSQL_8_0
                ? with("characterEncoding=latin1")
                : with("sessionVariables=character_set_client=utf8mb3,character_set_results=utf8mb3");
        assertThatThrownBy(() -> migrated(losing))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("characterEncoding=UTF-8")
                .hasMessageContaining(lossy);
    }

    @Test
    void connectionThatDropsFractionsOfSecondsIsRefusedWithTheFix() {
        if (engine == Engine.MARIADB_11_4) {
            return; // its driver has no such property
        }
        assertThatThrownBy(() -> migrated(with("sendFractionalSeconds=false")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("sendFractionalSeconds=false");
    }

    @Test
    void sessionWithSafeUpdatesIsRefusedWithTheFix() {
        assertThatThrownBy(() -> migrated(with("sessionVariables=sql_safe_updates=1")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("SET sql_safe_updates = 0");
    }

    /** Each with a default database of its own, and some without one. */
    @Test
    void eightProcessesOfDifferentDatabasesMigrateOneSchemaAtOnce() throws Exception {
        List<DataSource> sources = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String name = i % 2 == 0
                    ? ""
                    : Databases.assumeStarted(engine).createDatabase("other").name();
            String url = database.jdbcUrl().replace("/" + database.name(), "/" + name);
            sources.add(new Database(name, url, database.user(), database.password()).dataSource());
        }
        ExecutorService threads = Executors.newFixedThreadPool(sources.size());
        CyclicBarrier together = new CyclicBarrier(sources.size());
        try {
            List<Future<Integer>> migrations = new ArrayList<>();
            for (DataSource source : sources) {
                JdbcDatabase tables = JdbcDatabase.open(
                        source,
                        TableOptions.defaults().with(t -> t.schema(database.name())),
                        Duration.ofSeconds(60),
                        event -> {});
                migrations.add(threads.submit(() -> {
                    together.await(60, TimeUnit.SECONDS);
                    return tables.migrate();
                }));
            }
            int applied = 0;
            for (Future<Integer> migration : migrations) {
                applied += migration.get(60, TimeUnit.SECONDS);
            }
            assertThat(applied).as("by exactly one of them").isEqualTo(3);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void migrationWithoutADatabaseIsRefusedWithTheFix() {
        String url = database.jdbcUrl().replace("/" + database.name(), "/");
        DataSource nowhere = new Database("", url, database.user(), database.password()).dataSource();
        assertThatThrownBy(() -> migrated(nowhere))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("withSchema");
    }

    /** There the driver takes the name of a database for a pattern. */
    @Test
    void databaseWithASimilarNameIsNotTakenForTheOneThatIsMeant() throws SQLException {
        String similar = "x" + database.name();
        String meant = "_" + database.name();
        execute("CREATE DATABASE " + similar);
        execute("CREATE DATABASE " + meant);
        DataSource bySchema = with(engine == Engine.MYSQL_8_0 ? "databaseTerm=SCHEMA" : "useCatalogTerm=SCHEMA");
        for (String name : List.of(similar, meant)) {
            JdbcDatabase tables = JdbcDatabase.open(
                    bySchema, TableOptions.defaults().with(t -> t.schema(name)), Duration.ofSeconds(60), event -> {});
            assertThat(tables.migrate()).as(name).isEqualTo(3);
            tables.check();
        }
    }

    private static Message keyed() {
        return Message.to("t").type("x").text("y").idempotencyKey("k").build();
    }

    private static Postrider migrated(DataSource dataSource) {
        Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build();
        postrider.migrate();
        return postrider;
    }

    /** A program without strict SQL that leaves the time out; the driver refuses to read it, and the id contains no other time. */
    @ParameterizedTest
    @ValueSource(strings = {"0000-00-00 00:00:00", "2024-00-00 00:00:00"})
    void rowWithAnImpossibleTimeIsBuriedAndItsNeighboursAreClaimed(String time) throws SQLException {
        DataSource dataSource = database.dataSource();
        try (Postrider postrider = migrated(dataSource);
                Connection foreign = dataSource.getConnection()) {
            change(foreign, "SET SESSION sql_mode = ''");
            change(foreign, """
                    INSERT INTO postrider_message (id, topic_id, topic, type, payload, state, available_at, created_at)
                    SELECT UNHEX(REPLACE(UUID(), '-', '')), id, topic, 'foreign', 'x', 'PENDING', UTC_TIMESTAMP(6), '%s'
                    FROM postrider_topic WHERE topic = 't'
                    """.formatted(time));
            change(foreign, "SET SESSION sql_mode = DEFAULT");
            postrider.inTransaction(
                    work -> work.stage(Message.to("t").type("x").text("y").build()));

            assertThat(postrider.store().claim(ClaimRequest.of("t", "worker"))).hasSize(1);

            assertThat(number("SELECT COUNT(*) FROM postrider_message WHERE state = 'DEAD' AND reason = 'UNREADABLE'"))
                    .isEqualTo(1);
            List<StoredMessage> dead = postrider.admin().deadLetters("t", 10);
            assertThat(dead).hasSize(1);
            assertThat(postrider.admin().find(dead.get(0).message().id())).isPresent();
        }
    }

    private DataSource with(String parameter) {
        String url = database.jdbcUrl();
        String extended = url + (url.contains("?") ? "&" : "?") + parameter;
        return new Database(database.name(), extended, database.user(), database.password()).dataSource();
    }

    private static Connection transaction(DataSource dataSource) throws SQLException {
        Connection connection = dataSource.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long number(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
