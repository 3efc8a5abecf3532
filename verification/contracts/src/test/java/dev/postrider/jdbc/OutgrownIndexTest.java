package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Indexes that stayed large when their table became small again are built anew, unless another session uses the table. */
final class OutgrownIndexTest {

    /** A reserved word, so that it must be quoted everywhere. */
    private static final TableOptions OPTIONS = TableOptions.defaults().with(t -> t.schema("user"));

    private static final String TABLE = "\"user\".postrider_message";

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void indexesAreBuiltAnewWhenTheyHaveOutgrownTheirTable(Engine engine) throws SQLException {
        Database database = Databases.assumeStarted(engine).createDatabase("outgrown");
        DataSource dataSource = database.dataSource();
        Sql.execute(dataSource, "CREATE SCHEMA \"user\"");
        try (Postrider postrider = Postrider.on(dataSource)
                .tables(tables -> tables.schema("user"))
                .topic("own")
                .build()) {
            postrider.migrate();
        }
        RetentionStore retention = retention(dataSource);
        assertThat(retention.rebuildIndexes()).as("small ones").isFalse();

        Sql.execute(dataSource, "INSERT INTO " + TABLE + """
                 (id, topic_id, topic, type, content_type, payload)
                SELECT gen_random_uuid(), 1, 'own', 'x', 'text/plain', 'y' FROM generate_series(1, 400000)
                """);
        assertThat(retention.rebuildIndexes()).as("large ones of a large table").isFalse();
        Sql.execute(dataSource, "DELETE FROM " + TABLE);
        Sql.execute(dataSource, "VACUUM " + TABLE);
        long large = indexes(dataSource);

        assertThat(retention(stranger(database)).rebuildIndexes())
                .as("by a user who does not own them")
                .isFalse();
        try (Connection writer = dataSource.getConnection();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("LOCK TABLE " + TABLE + " IN ROW EXCLUSIVE MODE");
            assertThat(retention.rebuildIndexes())
                    .as("while another session writes")
                    .isFalse();
            writer.rollback();
        }
        assertThat(indexes(dataSource)).isEqualTo(large);
        assertThat(retention.rebuildIndexes()).isTrue();
        assertThat(indexes(dataSource)).isLessThan(1_000_000);
        assertThat(retention.rebuildIndexes()).as("once is enough").isFalse();
    }

    private static RetentionStore retention(DataSource dataSource) {
        return JdbcDatabase.open(dataSource, OPTIONS, Duration.ofSeconds(60), event -> {})
                .retention();
    }

    /** May write everything and owns nothing. */
    private static DataSource stranger(Database database) throws SQLException {
        String role = "stranger_" + database.name();
        DataSource owner = database.dataSource();
        Sql.execute(owner, "CREATE ROLE " + role);
        Sql.execute(owner, "GRANT USAGE ON SCHEMA \"user\" TO " + role);
        Sql.execute(owner, "GRANT ALL ON ALL TABLES IN SCHEMA \"user\" TO " + role);
        String url = database.jdbcUrl();
        String options = (url.contains("?") ? "&" : "?") + "options=-c%20role=" + role;
        return new Database(database.name(), url + options, database.user(), database.password()).dataSource();
    }

    private static long indexes(DataSource dataSource) throws SQLException {
        return Sql.number(dataSource, "SELECT pg_indexes_size('" + TABLE + "')");
    }
}
