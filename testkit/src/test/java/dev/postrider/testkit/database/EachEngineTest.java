package dev.postrider.testkit.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What every engine offers, on the server that all tests share. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class EachEngineTest {

    private final Engine engine;
    private final DatabaseServer server;

    EachEngineTest(Engine engine) {
        this.engine = engine;
        this.server = Databases.assumeStarted(engine);
    }

    @Test
    void versionIsTheOneNamed() throws SQLException {
        String query = switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 -> "SHOW server_version";
            case MARIADB_11_4, MYSQL_8_0 -> "SELECT version()";
            case H2 -> "SELECT h2version()";
        };
        String start = switch (engine) {
            case POSTGRESQL_15 -> "15.";
            case POSTGRESQL_18 -> "18.";
            case MARIADB_11_4 -> "11.4.";
            case MYSQL_8_0 -> "8.0.";
            case H2 -> "2.";
        };
        assertThat(Sql.query(server.dataSource(), query))
                .singleElement()
                .asString()
                .startsWith(start);
    }

    @Test
    void commitsAreDurable() throws SQLException {
        Map<String, String> settings = switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 ->
                Map.of(
                        "SHOW fsync", "on",
                        "SHOW full_page_writes", "on",
                        "SHOW synchronous_commit", "on",
                        "SHOW max_connections", "200");
            case MARIADB_11_4 ->
                Map.of(
                        "SELECT @@innodb_flush_log_at_trx_commit", "1",
                        "SELECT @@innodb_doublewrite", "ON",
                        "SELECT @@max_connections", "300");
            case MYSQL_8_0 ->
                Map.of(
                        "SELECT @@innodb_flush_log_at_trx_commit", "1",
                        "SELECT @@innodb_doublewrite", "ON",
                        "SELECT @@sync_binlog", "1",
                        "SELECT @@max_connections", "300");
            case H2 -> Map.of(); // lives in memory and promises nothing
        };
        for (Map.Entry<String, String> setting : settings.entrySet()) {
            assertThat(Sql.query(server.dataSource(), setting.getKey()))
                    .as(setting.getKey())
                    .containsExactly(setting.getValue());
        }
    }

    @Test
    void freshDatabasesAreSeparate() throws SQLException {
        DataSource first = server.createDatabase("separate").dataSource();
        DataSource second = server.createDatabase("separate").dataSource();

        Sql.execute(first, "CREATE TABLE letter (id INT PRIMARY KEY)");
        Sql.execute(second, "CREATE TABLE letter (id INT PRIMARY KEY)");
        Sql.execute(first, "INSERT INTO letter VALUES (1)");

        assertThat(Sql.query(first, "SELECT id FROM letter")).containsExactly("1");
        assertThat(Sql.query(second, "SELECT id FROM letter")).isEmpty();
    }

    @Test
    void databaseNameThatWouldNeedQuotesIsRefused() {
        for (String prefix : List.of("", "Upper", "1st", "a-b", "a".repeat(41))) {
            assertThatIllegalArgumentException().isThrownBy(() -> server.createDatabase(prefix));
        }
    }

    @Test
    void serverIsShared() {
        assertThat(Databases.shared(engine)).isSameAs(server);
        assertThat(server.engine()).isEqualTo(engine);
    }
}
