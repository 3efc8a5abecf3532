package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.store.RetentionStore;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Indexes that stayed large when their table became small again are built anew, unless somebody is at the table. */
final class OutgrownIndexTest {

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void indexesAreBuiltAnewWhenTheyHaveOutgrownTheirTable(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("outgrown").dataSource();
        try (Postrider postrider = Postrider.on(dataSource).topic("own").build()) {
            postrider.migrate();
        }
        RetentionStore retention = JdbcDatabase.open(
                        dataSource, JdbcOptions.defaults(), Duration.ofSeconds(10), event -> {})
                .retention();
        assertThat(retention.rebuildIndexes()).as("small ones").isFalse();

        execute(dataSource, """
                INSERT INTO postrider_message (id, topic_id, namespace, topic, type, content_type, payload, occurred_at)
                SELECT gen_random_uuid(), 1, 'default', 'own', 'x', 'text/plain', 'y', now() FROM generate_series(1, 400000)
                """);
        assertThat(retention.rebuildIndexes()).as("large ones of a large table").isFalse();
        execute(dataSource, "DELETE FROM postrider_message");
        execute(dataSource, "VACUUM postrider_message");
        long large = indexes(dataSource);

        try (Connection writer = dataSource.getConnection();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("LOCK TABLE postrider_message IN ROW EXCLUSIVE MODE");
            assertThat(retention.rebuildIndexes()).as("while somebody writes").isFalse();
            assertThat(indexes(dataSource)).isEqualTo(large);
            writer.rollback();
        }
        assertThat(retention.rebuildIndexes()).isTrue();
        assertThat(indexes(dataSource)).isLessThan(1_000_000);
        assertThat(retention.rebuildIndexes()).as("once is enough").isFalse();
    }

    private static long indexes(DataSource dataSource) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT pg_indexes_size('postrider_message')")) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
