package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The data source of the dispatcher leads to the tables that messages are written to. */
final class DispatchDataSourceTest {

    @ParameterizedTest
    @EnumSource(Engine.class)
    void anotherDatabaseIsRefusedAtTheStart(Engine engine) {
        DatabaseServer server = Databases.assumeStarted(engine);
        DataSource own = server.createDatabase("own").dataSource();
        DataSource empty = server.createDatabase("empty").dataSource();
        DataSource other = server.createDatabase("other").dataSource();
        Postrider.on(own).topic("orders").build().migrate();
        Postrider.on(other).topic("orders").build().migrate();

        for (DataSource wrong : new DataSource[] {empty, other}) {
            try (Postrider postrider = on(own, wrong)) {
                assertThatExceptionOfType(InvalidConfigurationException.class)
                        .isThrownBy(postrider::start)
                        .satisfies(e -> assertThat(e.property()).isEqualTo("dispatch-on"));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Engine.class)
    void anotherPoolOfTheSameDatabaseIsAccepted(Engine engine) {
        var database = Databases.assumeStarted(engine).createDatabase("own");
        try (Postrider postrider = on(database.dataSource(), database.dataSource())) {
            postrider.migrate();

            postrider.start();
        }
    }

    private static Postrider on(DataSource dataSource, DataSource dispatching) {
        return Postrider.on(dataSource)
                .topic("orders", topic -> topic.deliver(new RecordingTransport()))
                .dispatchOn(dispatching)
                .build();
    }
}
