package dev.postrider.testkit.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Servers that follow another and take its place. */
final class StandbyTest {

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void nothingThatWasAnsweredIsLostWhenAStandbyThatCommitsWaitForTakesThePlace(Engine engine) throws Exception {
        try (DatabaseServer server = Databases.startOrAbort(engine)) {
            DataSource database = letters(server);
            Queue<String> answered = new ConcurrentLinkedQueue<>();
            CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> writeUntilItFails(database, answered));
            try (Standby standby = Standby.of(server)) {
                standby.bindCommits();
                int soFar = answered.size();
                await(() -> answered.size() > soFar + 100);

                server.crash();
                standby.promote();
                standby.takePlace();
            }
            server.restart();
            writing.get(60, TimeUnit.SECONDS);

            assertThat(Sql.query(database, "SELECT id FROM letter")).containsAll(answered);
            assertThat(Sql.number(server.dataSource(), "SELECT timeline_id FROM pg_control_checkpoint()"))
                    .as("the history that it is in")
                    .isEqualTo(2);
            Sql.execute(database, "INSERT INTO letter VALUES (-1)");
        }
    }

    @Test
    void whatIsCommittedAfterAStandbyHasLostTouchIsNotThere() throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            DataSource database = letters(server);
            Sql.execute(database, "INSERT INTO letter VALUES (1)");
            try (Standby standby = Standby.of(server)) {
                standby.loseTouch();
                Sql.execute(database, "INSERT INTO letter VALUES (2)");
                server.crash();
                standby.promote();
                standby.takePlace();
            }
            server.restart();

            assertThat(Sql.query(database, "SELECT id FROM letter")).containsExactly("1");
        }
    }

    @Test
    void primaryGoesOnAloneWhenItsStandbyIsClosed() throws SQLException {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            DataSource database = letters(server);
            try (Standby standby = Standby.of(server)) {
                standby.bindCommits();
                assertThatThrownBy(() -> Sql.execute(standby.server().dataSource(), "CREATE TABLE letter (id INT)"))
                        .hasMessageContaining("read-only");
                assertThatIllegalStateException().isThrownBy(standby::takePlace).withMessageContaining("still running");
            }

            Sql.execute(database, "INSERT INTO letter VALUES (1)");

            assertThat(Sql.query(database, "SELECT id FROM letter")).isEqualTo(List.of("1"));
        }
    }

    @Test
    void serverThatIsNoPostgresCannotBeFollowed() {
        try (DatabaseServer server = Databases.start(Engine.H2)) {
            assertThatThrownBy(() -> Standby.of(server)).isInstanceOf(UnsupportedOperationException.class);
        }
    }

    private static DataSource letters(DatabaseServer server) throws SQLException {
        DataSource database = server.createDatabase("letters").dataSource();
        Sql.execute(database, "CREATE TABLE letter (id INT PRIMARY KEY)");
        return database;
    }

    private static void writeUntilItFails(DataSource database, Queue<String> answered) {
        try {
            for (int id = 0; true; id++) {
                Sql.execute(database, "INSERT INTO letter VALUES (" + id + ")");
                answered.add(Integer.toString(id));
            }
        } catch (SQLException e) {
            // the server is gone
        }
    }

    private static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            Thread.onSpinWait();
        }
    }
}
