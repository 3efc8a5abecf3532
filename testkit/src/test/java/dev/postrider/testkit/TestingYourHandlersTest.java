package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How an application tests its inbox handlers and its commands; quoted in docs/testing.md. */
class TestingYourHandlersTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final DataSource dataSource =
            Databases.assumeStarted(Engine.H2).createDatabase("shipping").dataSource();

    private final RecordingTransport received = new RecordingTransport();
    private final RecordingHandler shipping = new RecordingHandler().doing(TestingYourHandlersTest::ship);
    private final RecordingListener events = new RecordingListener();

    @RegisterExtension
    final PostriderExtension extension = PostriderExtension.on(
            dataSource,
            builder -> builder.topic("shipments", topic -> topic.deliver(received))
                    .inbox("shipping", inbox -> inbox.handler("ship", "order.placed", shipping))
                    .listener(events));

    /** The code under test. */
    private static void ship(Message order, UnitOfWork work) {
        work.stage(Message.to("shipments")
                .type("order.shipped")
                .key(order.key())
                .json("{}")
                .build());
    }

    private static Message order(String id) {
        return Message.received("orders", id)
                .type("order.placed")
                .key("order-17")
                .json("{}")
                .build();
    }

    @Test
    void handlerAnnouncesTheShipment() {
        FakeUnitOfWork work = new FakeUnitOfWork();

        ship(order("order-17"), work);

        assertThat(work.messages()).extracting(Message::type).containsExactly("order.shipped");
    }

    @Test
    void orderThatComesTwiceIsShippedOnce(Postrider postrider) {
        postrider.inbox("shipping").receive(List.of(order("order-17")));
        postrider.inbox("shipping").receive(List.of(order("order-17"))); // the sender tries again

        assertThat(received.await(1, LIMIT)).hasSize(1);
        assertThat(shipping.messages()).hasSize(1);
        assertThat(events.await(Event.DuplicateReceived.class, 1, LIMIT)).hasSize(1);
    }

    @Test
    void orderWhoseHandlingFailedIsTriedAgain(Postrider postrider) {
        shipping.doing((order, work) -> {
            if (shipping.messages().size() == 1) {
                throw new IllegalStateException("as the test asked");
            }
            ship(order, work);
        });
        postrider.inbox("shipping").receive(List.of(order("order-17")));
        events.await(Event.Failed.class, 1, LIMIT);

        extension.clock().advance(Duration.ofHours(1)); // the retry comes due
        postrider.wake();

        assertThat(received.await(1, LIMIT)).hasSize(1);
        assertThat(shipping.messages()).hasSize(2);
    }

    @Test
    void orderIsProcessedInATransactionOfItsOwn(Postrider postrider) {
        Message order = order("order-17");

        ProcessResult first = postrider.inbox("billing").process(order, work -> ship(order, work));
        ProcessResult again = postrider.inbox("billing").process(order, work -> ship(order, work));

        assertThat(first.isProcessed()).isTrue();
        assertThat(again.isDuplicate()).isTrue();
        assertThat(received.await(1, LIMIT)).hasSize(1);
    }

    @Test
    void repeatedChargeGetsTheFirstReceipt(Postrider postrider) {
        Command<String> charge = Command.named("payments.charge")
                .caller("ada")
                .key("8e03978e")
                .fingerprint("42 EUR")
                .returningText();

        CommandResult<String> first = postrider.commands().run(charge, transaction -> {
            transaction.stage(Message.to("shipments").type("paid").json("{}").build());
            return "receipt-1";
        });
        CommandResult<String> again = postrider.commands().run(charge, transaction -> "receipt-2");

        assertThat(first.orElseThrow()).isEqualTo("receipt-1");
        assertThat(again.orElseThrow()).isEqualTo("receipt-1");
        assertThat(again.isReplayed()).isTrue();
        assertThat(received.await(1, LIMIT)).hasSize(1);
    }

    @Test
    void keyIsForgottenAfterADay() {
        InMemoryCommands commands = new InMemoryCommands();
        Command<String> charge = Command.named("payments.charge")
                .caller("ada")
                .key("8e03978e")
                .fingerprint("42 EUR")
                .returningText();
        commands.run(charge, transaction -> "receipt-1");

        commands.advance(Duration.ofHours(25));

        assertThat(commands.run(charge, transaction -> "receipt-2").orElseThrow())
                .isEqualTo("receipt-2");
    }

    @Test
    void messageWithAnOldIdIsHandledLikeAnyOther(Postrider postrider) {
        Message old = Message.to("orders")
                .id(DatabaseClock.idOfAge(Duration.ofDays(25))) // as a sender that was away makes it
                .type("order.placed")
                .json("{}")
                .build();

        postrider.inbox("shipping").receive(List.of(old));

        assertThat(shipping.await(1, LIMIT)).extracting(Message::id).containsExactly(old.id());
    }
}
