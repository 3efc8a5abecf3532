package dev.postrider.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.dispatch.Doorbell;
import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.message.TopicName;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

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
