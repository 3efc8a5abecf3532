package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.PostriderTables;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Database;
import dev.postrider.transport.DeliveryResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowingConsumer;
import org.h2.jdbc.JdbcConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of H2 that applications use in their tests: they work, or are refused by name. */
final class H2ModesTest {

    private static DataSource database(String settings) {
        String name = "modes" + UUID.randomUUID().toString().replace("-", "");
        return new Database(name, "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;" + settings, "sa", "").dataSource();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=REGULAR",
                "MODE=LEGACY",
                "MODE=MySQL",
                "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "MODE=MariaDB",
                "MODE=PostgreSQL",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                "DATABASE_TO_UPPER=FALSE",
                "DATABASE_TO_LOWER=TRUE",
                "CASE_INSENSITIVE_IDENTIFIERS=TRUE"
            })
    void everythingWorks(String settings) {
        DataSource dataSource = database(settings);
        RecordingTransport received = new RecordingTransport();
        RecordingTransport failing = new RecordingTransport().answering(delivery -> DeliveryResult.rejected("no"));
        AtomicInteger handled = new AtomicInteger();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("plain", topic -> topic.deliver(received))
                .topic("ordered", topic -> topic.ordered().lanes(2).deliver(received))
                .topic("dead", topic -> topic.deliver(failing))
                .inbox("billing", inbox -> inbox.handler("book", "x", (message, work) -> handled.incrementAndGet()))
                .build()) {
            postrider.migrate();
            postrider.start();
            postrider.stop();
        }
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("plain", topic -> topic.deliver(received))
                .topic("ordered", topic -> topic.ordered().lanes(2).deliver(received))
                .topic("dead", topic -> topic.deliver(failing))
                .inbox("billing", inbox -> inbox.handler("book", "x", (message, work) -> handled.incrementAndGet()))
                .build()) {
            postrider.migrate();
            Message keyed = message("plain").idempotencyKey("k").build();
            postrider.inTransaction(work -> {
                work.stage(keyed);
                work.stage(message("plain").idempotencyKey("K").build());
                work.stage(message("ordered").key("a").build());
                work.stage(message("dead").build());
            });
            Enqueued again = postrider.callInTransaction(work ->
                    work.outbox().enqueue(message("plain").idempotencyKey("k").build()));
            assertThat(again).isEqualTo(new Enqueued.Duplicate(keyed.id(), "k", true));
            postrider
                    .inbox("billing")
                    .receive(List.of(Message.received("elsewhere", "1")
                            .type("x")
                            .text("y")
                            .build()));
            postrider.deliverDue();
            assertThat(received.messages()).hasSize(3);
            assertThat(handled).hasValue(1);
            assertThat(postrider.admin().deadLetters(TopicName.of("dead"), 0, 10))
                    .hasSize(1);
            Command<String> command =
                    Command.named("pay").caller("ada").key("k").fingerprint("f").returningText();
            postrider.commands().run(command, work -> "paid");
            new DatabaseClock(dataSource).advance(Duration.ofHours(1));
            new PostriderTables(dataSource).empty();
        }
    }

    /** H2 gives no other sign of it than the error: the release of a lost savepoint succeeds. */
    @Test
    void workThatSwallowsADeadlockIsNotCommittedInHalf() throws Exception {
        DataSource dataSource = database("");
        Sql.execute(dataSource, "CREATE TABLE business (id INT PRIMARY KEY, touched INT)");
        Sql.execute(dataSource, "INSERT INTO business VALUES (1, 0), (2, 0)");
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (Postrider postrider = Postrider.on(dataSource).topic("t").build();
                Connection rival = dataSource.getConnection()) {
            postrider.migrate();
            rival.setAutoCommit(false);
            change(rival, "UPDATE business SET touched = 2 WHERE id = 2");
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        change(work.connection(), "UPDATE business SET touched = 1 WHERE id = 1");
                        Future<?> rivalWaits = threads.submit(() -> {
                            change(rival, "UPDATE business SET touched = 2 WHERE id = 1");
                            return true;
                        });
                        awaitLockWait(dataSource);
                        assertThatThrownBy(
                                        () -> change(work.connection(), "UPDATE business SET touched = 1 WHERE id = 2"))
                                .isInstanceOfSatisfying(
                                        SQLException.class,
                                        e -> assertThat(e.getErrorCode())
                                                .as("a deadlock")
                                                .isEqualTo(40001));
                        rivalWaits.get(60, TimeUnit.SECONDS);
                        work.stage(message("t").build());
                    }))
                    .isInstanceOf(TransactionConflictException.class);
            rival.rollback();
        } finally {
            threads.shutdownNow();
        }
        assertThat(Sql.number(dataSource, "SELECT COUNT(*) FROM postrider_message"))
                .isZero();
        assertThat(Sql.number(dataSource, "SELECT SUM(touched) FROM business")).isZero();
    }

    private static void change(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The driver of H2 commits before it changes the level of isolation. */
    @Test
    void endByTheDriverIsRefusedOrNoticed() {
        DataSource dataSource = database("");
        try (Postrider postrider = Postrider.on(dataSource).topic("t").build()) {
            postrider.migrate();
            for (ThrowingConsumer<Connection> end : List.<ThrowingConsumer<Connection>>of(
                    connection -> connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE),
                    connection -> connection.unwrap(JdbcConnection.class).commit())) {
                assertThatThrownBy(() -> postrider.inTransaction(work -> {
                            work.outbox().enqueue(message("t").build());
                            end.accept(work.connection());
                        }))
                        .isInstanceOf(UnusableConnectionException.class);
            }
        }
    }

    private static void awaitLockWait(DataSource dataSource) throws SQLException {
        long giveUp = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (Sql.number(dataSource, "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL")
                == 0) {
            assertThat(System.nanoTime()).as("the rival waits").isLessThan(giveUp);
        }
    }

    /** The database calls its method. */
    public static final class Aliases {

        private Aliases() {}

        public static void commitIt(Connection connection) throws SQLException {
            connection.commit();
        }
    }

    @Test
    void textIsJudgedByTheTransactionAndNotByItsWords() throws Exception {
        DataSource dataSource = database("");
        Sql.execute(dataSource, "CREATE TABLE effect (id INT)");
        Sql.execute(dataSource, "CREATE ALIAS commits FOR '" + Aliases.class.getName() + ".commitIt'");
        try (Postrider postrider = Postrider.on(dataSource).topic("t").build()) {
            postrider.migrate();
            for (String sql : List.of(
                    "SELECT 1 // x; COMMIT",
                    "SET @x = 1",
                    "CALL 1",
                    "CREATE LOCAL TEMPORARY TABLE a (id INT) TRANSACTIONAL")) {
                postrider.inTransaction(work -> {
                    change(work.connection(), sql);
                    change(work.connection(), "INSERT INTO effect VALUES (1)");
                    change(work.connection(), sql.replace(" a ", " b "));
                });
            }
            assertThat(Sql.number(dataSource, "SELECT COUNT(*) FROM effect")).isEqualTo(4);
            Map.of(
                            "CALL commits()", Problem.ENDED,
                            "SET CACHE_SIZE 4096", Problem.ENDED,
                            "SELECT ';'; COMMIT", Problem.ENDED,
                            "CREATE TEMPORARY TABLE c (id INT)", Problem.GUARDED)
                    .forEach((sql, problem) -> assertThatThrownBy(() -> postrider.inTransaction(work -> {
                                change(work.connection(), "INSERT INTO effect VALUES (2)");
                                change(work.connection(), sql);
                            }))
                            .as(sql)
                            .isInstanceOfSatisfying(
                                    UnusableConnectionException.class,
                                    e -> assertThat(e.problem()).isEqualTo(problem)));
        }
    }

    private static Message.Builder message(String topic) {
        return Message.to(topic).type("x").text("y");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=MSSQLServer",
                "MODE=Oracle",
                "MODE=DB2",
                "MODE=Derby",
                "MODE=HSQLDB",
                "MODE=STRICT",
                "IGNORECASE=TRUE"
            })
    void otherSettingsAreRefusedByName(String settings) {
        DataSource dataSource = database(settings);
        assertThatThrownBy(() -> Postrider.on(dataSource).topic("t").build())
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining(settings);
    }
}
