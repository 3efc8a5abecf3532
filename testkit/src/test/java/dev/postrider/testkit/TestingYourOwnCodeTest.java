package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** How an application tests what it sends; quoted in docs/testing.md. */
class TestingYourOwnCodeTest {

    private final DataSource dataSource =
            Databases.assumeStarted(Engine.H2).createDatabase("shop").dataSource();

    @Test
    void placedOrderIsAnnounced() {
        RecordingTransport received = new RecordingTransport();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("orders", topic -> topic.deliver(received))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(
                    Message.to("orders").type("order.placed").json("{}").build()));

            postrider.deliverDue(); // production code, now, in this thread

            assertThat(received.messages()).extracting(Message::type).containsExactly("order.placed");
        }
    }

    @Test
    void realServerTakesTheTables() {
        Databases.assumeStarted(Engine.POSTGRESQL_18);
        try (DatabaseServer server = Databases.start(Engine.POSTGRESQL_18)) {
            DataSource shop = server.createDatabase("shop").dataSource();
            Postrider.on(shop).topic("orders").build().migrate();

            assertThat(Postrider.on(shop).build().admin().status()).hasSize(1);
        }
    }

    @Test
    void failedDeliveryIsTriedAgainAfterItsDelay() {
        RecordingTransport received = new RecordingTransport().answering(delivery -> DeliveryResult.failed("not now"));
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("orders", topic -> topic.deliver(received))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(
                    Message.to("orders").type("order.placed").json("{}").build()));
            postrider.deliverDue();
            received.answering(delivery -> DeliveryResult.delivered());

            new DatabaseClock(dataSource).advance(Duration.ofMinutes(5)); // leases run out, retries come due
            postrider.deliverDue();

            assertThat(received.deliveries()).hasSize(2);
            assertThat(postrider.admin().status().get(0).backlog()).isZero();
        }
    }
}
