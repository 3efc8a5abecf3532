package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What claims on PostgreSQL prove of transactions that are still open, and where looks begin by it. In this package to get at both. The
 * monotonic clock stands still, so that no look goes further back than it must.
 */
final class DueScanSightTest {

    private static final long NANOS = 0;
    private static final int LOOKS_FURTHER_BACK = 3;
    private static final int ENOUGH_ROUNDS = 200;
    private static final Duration LITTLE = Duration.ofMillis(1500);

    private final ClaimStatements claims =
            ClaimStatements.of(SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX));
    private final DueScanStart scanStart = new DueScanStart();
    private Instant reached = Instant.EPOCH;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void messageOfATransactionThatIsOpenForSecondsIsFoundByTheNextScan(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("sight").dataSource();
        try (Postrider postrider = Postrider.on(dataSource).topic("own").build();
                Connection claiming = dataSource.getConnection();
                Connection slow = dataSource.getConnection()) {
            postrider.migrate();
            int topicId = (int) Sql.number(dataSource, "SELECT id FROM postrider_topic");
            slow.setAutoCommit(false);
            postrider.outbox(slow).enqueue(message("slow"));
            for (int i = 0; i < LOOKS_FURTHER_BACK + 5; i++) {
                write(postrider, "quick");
                assertThat(claim(claiming, topicId)).containsExactly("quick");
            }
            assertThat(begin()).as("the next look").isBefore(reached.minus(LITTLE));
            threeSecondsBefore(reached, slow);
            slow.commit();

            assertThat(claim(claiming, topicId)).containsExactly("slow");

            for (int round = 0; begin().isBefore(reached.minus(LITTLE)); round++) {
                assertThat(round).as("rounds until it is proved").isLessThan(ENOUGH_ROUNDS);
                write(postrider, "quick");
                claim(claiming, topicId);
            }
        }
    }

    private Instant begin() {
        return scanStart.begin(NANOS).from();
    }

    private List<String> claim(Connection connection, int topicId) throws SQLException {
        DueScanStart.DueScan look = scanStart.begin(NANOS);
        ClaimStatements.DueClaim due =
                claims.claimDue(connection, topicId, ClaimRequest.of("own", "worker"), UUID.randomUUID(), look.from());
        scanStart.ended(look, due, false, NANOS);
        due.rows().forEach(row -> reached = row.availableAt());
        return due.rows().stream()
                .map(row -> Objects.requireNonNull(row.message()).payload().asText())
                .toList();
    }

    /** As if it had been written then, however long the test has taken so far. */
    private static void threeSecondsBefore(Instant time, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate("UPDATE postrider_message SET available_at = '" + time
                            + "'::timestamptz - interval '3 seconds' WHERE state = 'PENDING'"))
                    .isEqualTo(1);
        }
    }

    private static void write(Postrider postrider, String text) throws SQLException {
        postrider.inTransaction(work -> work.stage(message(text)));
    }

    private static Message message(String text) {
        return Message.to("own").type("x").text(text).build();
    }
}
