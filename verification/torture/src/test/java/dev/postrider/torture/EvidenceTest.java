package dev.postrider.torture;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the triggers write down and the tables keep is what the checker reads, on every database: ids, times and tokens have types of
 * their own there. The zone of the tests is none that a database would guess.
 */
final class EvidenceTest {

    private static final Duration HALF_AN_HOUR = Duration.ofMinutes(30);

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MARIADB_11_4", "MYSQL_8_0"})
    void databasesTypesAreReadAsTheyAreMeant(Engine engine) throws Exception {
        Database database = Databases.assumeStarted(engine).createDatabase("evidence");
        try (Postrider postrider =
                        Business.configured(database.dataSource(), topic -> {}).build();
                Journal journal = Journal.at(directory.resolve("producer-1.journal"))) {
            postrider.migrate();
            try (Connection connection = database.dataSource().getConnection()) {
                Tables.create(engine, connection);
            }
            properties();
            String later = written(postrider, journal, Instant.now().plus(HALF_AN_HOUR));
            postrider.commands().<String, SQLException>run(command(), work -> "paid");

            assertThat(verdict(database))
                    .contains("I7 holds: 3 changes of state were legal: 2 command, 1 leased;")
                    .contains("I10 holds: 1 committed messages, of which 1 are left");

            String due = written(postrider, journal, Instant.now().minus(HALF_AN_HOUR));
            String claimed = written(postrider, journal, null);
            execute(database, breakRules(engine, claimed));

            assertThat(verdict(database))
                    .containsPattern("message " + claimed
                            + " went, leased, from PROCESSING to PROCESSING while its lease had 3[56]\\d{8} us left")
                    .containsPattern(
                            "command [0-9a-f]{64} went from COMPLETED to IN_PROGRESS before the time of its key")
                    .contains("message " + due + " of notices is still PENDING")
                    .containsPattern("a command pay of tenant 'ada' is in progress for another 3[56]\\d{5} ms")
                    .doesNotContain("message " + later);
        }
    }

    private static Command<String> command() {
        return Command.named("pay")
                .tenant("ada")
                .caller("bob")
                .key("k")
                .fingerprint("f")
                .returningText();
    }

    private void properties() throws IOException {
        Files.writeString(directory.resolve("run.properties"), """
                leaseMillis=5000
                maxAttempts=3
                inFlight=2
                workers=1
                started=%d
                ended=%d
                """.formatted(Journal.now(), Journal.now()));
    }

    /** Enqueues a message of an unordered topic, as a producer does; no worker delivers it. */
    private static String written(Postrider postrider, Journal journal, @Nullable Instant deliverAt) {
        String tx = UUID.randomUUID().toString();
        Message message =
                new Draft(Business.NOTICES, "ada", "k", null, deliverAt, Business.PLAIN, 10).message("", new Random(1));
        journal.write(
                "intended",
                "tx",
                tx,
                "id",
                message.id(),
                "topic",
                Business.NOTICES,
                "ordered",
                false,
                "hash",
                Digest.of(message),
                "deliverAt",
                deliverAt == null ? null : Journal.micros(deliverAt),
                "kept",
                true);
        postrider.inTransaction(work -> {
            try (PreparedStatement insert =
                    work.connection().prepareStatement("INSERT INTO torture_transaction (tx) VALUES (?)")) {
                insert.setString(1, tx);
                insert.executeUpdate();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            work.outbox().enqueue(message);
        });
        journal.write("committed", "tx", tx);
        return message.id().toString();
    }

    /** A message is claimed for an hour and claimed again at once; a command that was completed is run again, for an hour. */
    private static String[] breakRules(Engine engine, String claimed) {
        boolean postgres = engine == Engine.POSTGRESQL_18;
        String hour = postgres ? "clock_timestamp() + interval '1 hour'" : "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR";
        String message = " WHERE id = " + id(postgres, claimed);
        return new String[] {
            "UPDATE postrider_message SET state = 'PROCESSING', locked_by = 'w', locked_until = " + hour
                    + ", lease_token = " + id(postgres, UUID.randomUUID().toString()) + message,
            "UPDATE postrider_message SET lease_token = "
                    + id(postgres, UUID.randomUUID().toString()) + message,
            "UPDATE postrider_command SET state = 'IN_PROGRESS', fence = fence + 1, lease_until = " + hour
                    + ", owner = " + id(postgres, UUID.randomUUID().toString())
        };
    }

    private static String id(boolean postgres, String id) {
        return postgres ? "'" + id + "'::uuid" : "UNHEX(REPLACE('" + id + "', '-', ''))";
    }

    private static void execute(Database database, String... statements) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                assertThat(statement.executeUpdate(sql)).as(sql).isEqualTo(1);
            }
        }
    }

    private String verdict(Database database) throws Exception {
        Judgement.of(directory, database);
        return Files.readString(directory.resolve("verdict.txt"));
    }
}
