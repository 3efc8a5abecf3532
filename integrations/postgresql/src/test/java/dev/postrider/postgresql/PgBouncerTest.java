package dev.postrider.postgresql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.dispatch.Doorbell;
import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.error.StoreException;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.testkit.WatchedDataSource;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** The doorbell behind the pooler that most have. */
final class PgBouncerTest {

    private static final PostgresDoorbell.Timing QUICK =
            new PostgresDoorbell.Timing(Duration.ofSeconds(2), Duration.ofMillis(500), Duration.ofSeconds(7));
    private static final PostgresDoorbell.Timing PATIENT =
            new PostgresDoorbell.Timing(Duration.ofSeconds(30), Duration.ofMillis(500), Duration.ofSeconds(7));
    private static final Ring ORDERS = new Ring(Set.of(TopicName.of("orders")));

    private final Database database =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("bouncer");

    @Test
    void transactionModeIsNoticed() throws Exception {
        try (PgBouncer pooler = PgBouncer.start(program(), "transaction", database);
                Doorbell.Line line = open(pooler, QUICK)) {
            Heard heard = Heard.nothing();
            while (heard.pause().isZero()) {
                heard = line.listen(Duration.ofMillis(100));
                assertThat(heard.ring()).as("nothing is heard, not even itself").isEmpty();
            }

            assertThat(heard.pause()).isEqualTo(QUICK.retry());
        }
    }

    @Test
    void transactionModeIsGoodEnoughForRinging() throws Exception {
        try (PgBouncer pooler = PgBouncer.start(program(), "transaction", database);
                Doorbell.Line ringing = open(pooler, PATIENT);
                Doorbell.Line listening = new PostgresDoorbell(database.dataSource(), PATIENT).open("line")) {
            assertThat(next(listening)).as("its own test came back").isEqualTo(Ring.ANYWHERE);
            for (int i = 0; i < 20; i++) {
                ringing.ring(ORDERS);
                assertThat(next(listening)).isEqualTo(ORDERS);
            }
        }
    }

    @Test
    void sessionModeIsGoodEnoughForListening() throws Exception {
        try (PgBouncer pooler = PgBouncer.start(program(), "session", database);
                Doorbell.Line line = open(pooler, PATIENT);
                Doorbell.Line other = new PostgresDoorbell(database.dataSource(), PATIENT).open("line")) {
            assertThat(next(line)).isEqualTo(Ring.ANYWHERE);
            other.ring(ORDERS);
            assertThat(next(line)).isEqualTo(ORDERS);
        }
    }

    /** Every transaction may get another session: the commit and the savepoint of a failed INSERT belong to one of them. */
    @Test
    void transactionsAreCommittedTogetherWithTheirLastInsert() throws Exception {
        Message again = Message.to("t").type("x").text("y").build();
        List<String> texts = new CopyOnWriteArrayList<>();
        try (PgBouncer pooler = PgBouncer.start(program(), "transaction", database);
                Doorbell.Line open = open(pooler, PATIENT);
                Postrider direct = postrider(database.dataSource());
                Connection watching = database.dataSource().getConnection();
                Statement statement = watching.createStatement()) {
            assertThat(open).isNotNull();
            direct.migrate();
            statement.execute(
                    "CREATE TABLE purchase (id INT REFERENCES postrider_topic DEFERRABLE INITIALLY DEFERRED)");
            PGSimpleDataSource behind = (PGSimpleDataSource) pooler.dataSource();
            behind.setPrepareThreshold(0); // the driver prepares even BEGIN in a session otherwise
            DataSource watched = new WatchedDataSource(behind) {
                @Override
                protected Object on(Call call) throws Throwable {
                    if (call.isExecution() && call.sql() != null) {
                        texts.add(call.sql());
                    }
                    return call.proceed();
                }
            };
            Postrider pooled = postrider(watched);
            for (int i = 0; i < 10; i++) {
                pooled.inTransaction(work -> {
                    insertPurchase(work.connection(), "SELECT id FROM postrider_topic");
                    work.stage(again);
                });
                assertThatThrownBy(() -> pooled.inTransaction(work -> {
                            insertPurchase(work.connection(), "SELECT -1");
                            work.stage(Message.to("t").type("x").text("z").build());
                        }))
                        .isExactlyInstanceOf(StoreException.class)
                        .hasMessageContaining("23503");
            }

            assertThat(texts).filteredOn(text -> text.endsWith("COMMIT")).hasSizeGreaterThanOrEqualTo(20);
            try (ResultSet counts = statement.executeQuery(
                    "SELECT (SELECT count(*) FROM purchase), (SELECT count(*) FROM postrider_message)")) {
                counts.next();
                assertThat(counts.getInt(1)).isEqualTo(10);
                assertThat(counts.getInt(2)).isEqualTo(1);
            }
        }
    }

    private static Postrider postrider(DataSource dataSource) {
        return Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(delivery -> {}))
                .build();
    }

    private static void insertPurchase(Connection connection, String ids) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO purchase " + ids);
        }
    }

    private static Ring next(Doorbell.Line line) {
        Optional<Ring> ring = Optional.empty();
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (ring.isEmpty()) {
            assertThat(System.nanoTime() - deadline).as("the doorbell rings").isNegative();
            ring = line.listen(Duration.ofMillis(100)).ring();
        }
        return ring.get();
    }

    private static Path program() {
        Optional<Path> program = PgBouncer.program();
        if (program.isEmpty()) {
            System.err.println("NOT RUN: PgBouncerTest: there is no pgbouncer on this machine; install the package");
        }
        Assumptions.assumeTrue(program.isPresent(), "there is no pgbouncer on this machine");
        return program.get();
    }

    private static Doorbell.Line open(PgBouncer pooler, PostgresDoorbell.Timing timing) throws Exception {
        DataSource dataSource = pooler.dataSource();
        CountDownLatch breath = new CountDownLatch(1);
        for (int look = 0; ; look++) {
            try (Connection connection = dataSource.getConnection()) {
                assertThat(connection.isValid(30)).isTrue();
                return new PostgresDoorbell(dataSource, timing).open("line");
            } catch (SQLException e) {
                assertThat(look).as(e + pooler.log()).isLessThan(1200);
                breath.await(50, TimeUnit.MILLISECONDS);
            }
        }
    }
}
