package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The queries of {@code docs/operations.md} find a message by its correlation id, which is packed in a column with others. */
final class CorrelationIdQueryTest {

    @ParameterizedTest
    @EnumSource(Engine.class)
    void queryOfThePageFindsTheMessage(Engine engine) throws SQLException, IOException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("correlation").dataSource();
        try (Postrider postrider = Postrider.on(dataSource).topic("orders").build()) {
            postrider.migrate();
            for (String id : List.of("order-17", "order-18")) {
                postrider.inTransaction(work -> work.stage(message()
                        .correlationId(id)
                        .header("note", "\"correlationId\":\"order-17\"")
                        .text(id)
                        .build()));
            }
            postrider.inTransaction(work -> work.stage(message().text("none").build()));

            String query = query(engine);
            assertThat(query).contains("SELECT * FROM");
            assertThat(Sql.query(dataSource, query.replace("*", "payload"))).containsExactly("order-17");
        }
    }

    private static Message.Builder message() {
        return Message.to("orders").type("order.placed");
    }

    private static String query(Engine engine) throws IOException {
        String database = switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 -> "PostgreSQL";
            case MYSQL_8_0 -> "MySQL";
            case MARIADB_11_4 -> "MariaDB";
            case H2 -> "H2";
        };
        String page = Files.readString(Path.of("../../docs/operations.md"));
        int row = page.indexOf("| " + database + " | `", page.indexOf("**By correlation id.**"));
        int start = page.indexOf('`', row) + 1;
        return page.substring(start, page.indexOf('`', start));
    }
}
