package dev.postrider.contracts;

import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class SchemaTest extends SchemaContract {

    private final Engine engine;

    SchemaTest(Engine engine) {
        this.engine = engine;
    }

    @Override
    protected DataSource emptyDatabase() {
        return ContractDatabases.unpooled(engine);
    }

    /** A reserved word on purpose, where a schema is not a database of its own. */
    @Override
    protected String createSchema(DataSource dataSource) throws SQLException {
        return switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 -> {
                execute(dataSource, "CREATE SCHEMA \"order\"");
                yield "order";
            }
            case MARIADB_11_4, MYSQL_8_0 ->
                dev.postrider.testkit.database.Databases.assumeStarted(engine)
                        .createDatabase("elsewhere")
                        .name();
            case H2 -> {
                execute(dataSource, "CREATE SCHEMA elsewhere");
                yield "elsewhere";
            }
        };
    }

    @Override
    protected void switchTo(Connection connection, String schema) throws SQLException {
        switch (engine) {
            case MARIADB_11_4, MYSQL_8_0 -> connection.setCatalog(schema);
            case H2 -> connection.setSchema(schema.toUpperCase(Locale.ROOT));
            default -> connection.setSchema(schema);
        }
    }

    @Override
    protected String dropIndex(String index, String table) {
        return engine == Engine.MYSQL_8_0 || engine == Engine.MARIADB_11_4
                ? "DROP INDEX " + index + " ON " + table
                : "DROP INDEX " + index;
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
