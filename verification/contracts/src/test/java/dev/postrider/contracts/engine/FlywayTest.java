package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The schema files are enough for a tool of the user's own. */
final class FlywayTest {

    @ParameterizedTest
    @EnumSource(Engine.class)
    void tablesBroughtInByFlywayAreAccepted(Engine engine) {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("flyway").dataSource();
        Flyway.configure()
                .dataSource(dataSource)
                .locations("classpath:dev/postrider/schema/" + folder(engine))
                .placeholders(Map.of("tables", "postrider_", "prefix", "postrider_"))
                .load()
                .migrate();

        RecordingTransport received = new RecordingTransport();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(received))
                .build()) {
            postrider.start();
            postrider.stop();
            postrider.inTransaction(
                    work -> work.stage(Message.to("t").type("x").text("y").build()));
        }
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(received))
                .build()) {
            assertThat(postrider.deliverDue()).isEqualTo(1);
        }
        assertThat(received.messages()).hasSize(1);
    }

    /** Both begin with a version 1; each Flyway has a history of its own. */
    @ParameterizedTest
    @EnumSource(Engine.class)
    void secondFlywayLeavesTheApplicationsOwnAlone(Engine engine, @TempDir Path migrations) throws IOException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("flyways").dataSource();
        Files.writeString(migrations.resolve("V001__shop.sql"), "CREATE TABLE shop (id INT PRIMARY KEY);");
        Flyway own = Flyway.configure()
                .dataSource(dataSource)
                .locations("filesystem:" + migrations)
                .load();
        Flyway postriders = Flyway.configure()
                .dataSource(dataSource)
                .locations("classpath:dev/postrider/schema/" + folder(engine))
                .table("postrider_history")
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .placeholders(Map.of("tables", "postrider_", "prefix", "postrider_"))
                .load();

        assertThat(own.migrate().migrationsExecuted).isEqualTo(1);
        assertThat(postriders.migrate().migrationsExecuted).isEqualTo(3);
        assertThat(own.migrate().migrationsExecuted).isZero();
        assertThat(postriders.migrate().migrationsExecuted).isZero();
        own.validate();
        postriders.validate();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build()) {
            postrider.start();
        }
    }

    private static String folder(Engine engine) {
        return switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 -> "postgresql";
            case MARIADB_11_4 -> "mariadb";
            case MYSQL_8_0 -> "mysql";
            case H2 -> "h2";
        };
    }
}
