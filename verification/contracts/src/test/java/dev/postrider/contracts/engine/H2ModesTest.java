package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Enqueued;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.PostriderTables;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Database;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of H2 that applications use in their tests: they work, or are refused by name. */
final class H2ModesTest {

    private static DataSource database(String settings) {
        String name = "modes" + UUID.randomUUID().toString().replace("-", "");
        return new Database(name, "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;" + settings, "sa", "").dataSource();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=REGULAR",
                "MODE=LEGACY",
                "MODE=MySQL",
                "MODE=MySQL;DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE",
                "MODE=MariaDB",
                "MODE=PostgreSQL",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE",
                "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
                "DATABASE_TO_UPPER=FALSE",
                "DATABASE_TO_LOWER=TRUE",
                "CASE_INSENSITIVE_IDENTIFIERS=TRUE"
            })
    void everythingWorks(String settings) {
        DataSource dataSource = database(settings);
        RecordingTransport received = new RecordingTransport();
        RecordingTransport failing = new RecordingTransport().answering(delivery -> DeliveryResult.rejected("no"));
        AtomicInteger handled = new AtomicInteger();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("plain", topic -> topic.deliver(received))
                .topic("ordered", topic -> topic.ordered().lanes(2).deliver(received))
                .topic("dead", topic -> topic.deliver(failing))
                .inbox("billing", inbox -> inbox.handler("book", "x", (message, work) -> handled.incrementAndGet()))
                .build()) {
            postrider.migrate();
            postrider.start();
            postrider.stop();
        }
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("plain", topic -> topic.deliver(received))
                .topic("ordered", topic -> topic.ordered().lanes(2).deliver(received))
                .topic("dead", topic -> topic.deliver(failing))
                .inbox("billing", inbox -> inbox.handler("book", "x", (message, work) -> handled.incrementAndGet()))
                .build()) {
            postrider.migrate();
            Message keyed = message("plain").idempotencyKey("k").build();
            postrider.inTransaction(work -> {
                work.stage(keyed);
                work.stage(message("plain").idempotencyKey("K").build());
                work.stage(message("ordered").key("a").build());
                work.stage(message("dead").build());
            });
            Enqueued again = postrider.callInTransaction(work ->
                    work.outbox().enqueue(message("plain").idempotencyKey("k").build()));
            assertThat(again).isEqualTo(new Enqueued.Duplicate(keyed.id(), "k", true));
            postrider
                    .inbox("billing")
                    .receive(List.of(Message.received("elsewhere", "1")
                            .type("x")
                            .text("y")
                            .build()));
            postrider.deliverDue();
            assertThat(received.messages()).hasSize(3);
            assertThat(handled).hasValue(1);
            assertThat(postrider.admin().deadLetters(TopicName.of("dead"), 0, 10))
                    .hasSize(1);
            Command<String> command =
                    Command.named("pay").caller("ada").key("k").fingerprint("f").returningText();
            postrider.commands().run(command, work -> "paid");
            new DatabaseClock(dataSource).advance(Duration.ofHours(1));
            new PostriderTables(dataSource).empty();
        }
    }

    private static Message.Builder message(String topic) {
        return Message.to(topic).type("x").text("y");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MODE=MSSQLServer",
                "MODE=Oracle",
                "MODE=DB2",
                "MODE=Derby",
                "MODE=HSQLDB",
                "MODE=STRICT",
                "IGNORECASE=TRUE"
            })
    void otherSettingsAreRefusedByName(String settings) {
        DataSource dataSource = database(settings);
        assertThatThrownBy(() -> Postrider.on(dataSource).topic("t").build())
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining(settings);
    }
}
