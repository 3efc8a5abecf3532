package dev.postrider.simulation;

import dev.postrider.dispatch.DurableInbox;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.PostriderException;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.SimulatedDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A broker that gives messages to the nodes until it is told that they arrived, and again; and what is done about them. */
final class Receivers {

    /** Who handles messages as they come in. */
    static final String INLINE = "ledger";

    /** Who stores them first. */
    static final String DURABLE = "shop";

    static final List<String> HANDLERS = List.of("stock", "mail");

    private static final int FAILS = 10;

    /** A message that the broker has. */
    record Given(Message message, boolean durable) {

        String id() {
            return message.id().toString();
        }
    }

    private final Conductor conductor;
    private final Chance chance;
    private final SimulatedDatabase database;
    private final Supplier<@Nullable Node> nodes;
    private final Supplier<Message> mails;
    private final List<Given> given = new ArrayList<>();
    private final boolean durable;
    private final int lanes;
    private int open;
    private boolean calm;

    /** @param mails makes a message that is sent with what is done */
    Receivers(
            Conductor conductor, SimulatedDatabase database, Supplier<@Nullable Node> nodes, Supplier<Message> mails) {
        this.conductor = conductor;
        this.chance = conductor.chance();
        this.database = database;
        this.nodes = nodes;
        this.mails = mails;
        this.durable = chance.oneIn(3);
        this.lanes = (int) chance.between(0, 1);
        if (durable) {
            database.declare(InboxHandler.consumerTopic(DURABLE), 0);
            HANDLERS.forEach(handler -> database.declare(InboxHandler.topic(DURABLE, handler), lanes));
            HANDLERS.forEach(handler -> database.register(new InboxHandler(DURABLE, handler, InboxHandler.ANY_TYPE)));
        }
    }

    List<Given> given() {
        return given;
    }

    /** How many the broker still has to give. */
    int open() {
        return open;
    }

    void calm() {
        calm = true;
    }

    void begin() {
        int count = (int) chance.between(1, 3);
        for (int i = 0; i < count; i++) {
            Message message = Message.to("elsewhere")
                    .id(new MessageId(chance.id()))
                    .type("n" + i)
                    .occurredAt(Instant.EPOCH)
                    .text("x")
                    .build();
            Given one = new Given(message, durable && chance.oneIn(2));
            given.add(one);
            open++;
            conductor.begin(new Host("broker"), "gives " + i, () -> give(one));
        }
    }

    /** What a node declares for it. */
    List<Topic> topics(Consumer<Topic.Builder> options) {
        if (!durable) {
            return List.of();
        }
        DurableInbox.Builder builder = DurableInbox.of(DURABLE).lanes(lanes);
        for (String handler : HANDLERS) {
            builder.handler(
                    handler,
                    List.of(InboxHandler.ANY_TYPE),
                    (message, work) -> work(handler + "/" + message.id(), work),
                    options);
        }
        return builder.build().topics();
    }

    /** To one node after another, and sometimes to two at once. */
    private void give(Given one) {
        conductor.pass(chance.between(0, 8_000) * 1_000_000);
        boolean taken = false;
        while (!taken || (!calm && chance.oneIn(3))) {
            Signal back = new Signal(conductor);
            boolean[] done = new boolean[1];
            int copies = chance.oneIn(3) ? 2 : 1;
            for (int i = 0; i < copies; i++) {
                Node node = nodes.get();
                if (node != null) {
                    conductor.begin(node.host(), "receives", () -> {
                        done[0] |= isTaken(node, one);
                        back.signal();
                    });
                }
            }
            await(back);
            taken |= done[0];
            conductor.pass(chance.between(1, 800) * 1_000_000);
        }
        open--;
    }

    private void await(Signal back) {
        try {
            back.await(chance.between(200, 6_000) * 1_000_000);
        } catch (InterruptedException e) {
            throw new AssertionError("no thread interrupts this", e);
        }
    }

    private boolean isTaken(Node node, Given one) {
        try {
            if (one.durable()) {
                node.stores().inbox(DURABLE, node.engine().handOver()).receive(List.of(one.message()));
            } else {
                process(node, one);
            }
            conductor.note("broker hears of " + one.id());
            return true;
        } catch (PostriderException | SQLException e) {
            conductor.note("not received: " + e.getClass().getSimpleName());
        } catch (IllegalStateException e) {
            conductor.note("not received now");
        }
        return false;
    }

    private void process(Node node, Given one) throws SQLException {
        Inbox inbox = node.stores().inbox(INLINE, node.engine().handOver());
        String what = INLINE + "/" + one.id();
        if (chance.oneIn(2)) {
            inbox.process(one.message(), work -> {
                conductor.pass(
                        Duration.ofMillis(chance.oneIn(6) ? chance.between(0, 6_000) : 0)); // longer than a lease
                work(what, work);
            });
            return;
        }
        try (Connection connection = node.stores().connect()) {
            connection.setAutoCommit(false);
            ProcessResult result = inbox.process(connection, one.message(), work -> work(what, work));
            conductor.note(result.getClass().getSimpleName());
            conductor.pass(chance.between(0, 20_000) * 1000);
            connection.commit();
        }
    }

    private void work(String what, UnitOfWork work) throws SQLException {
        database.deed(work.connection(), what, "done");
        if (chance.oneIn(2)) {
            work.stage(mails.get());
        }
        conductor.pass(Duration.ofMillis(chance.between(0, chance.oneIn(6) ? 1_000 : 60)));
        if (!calm && chance.oneIn(FAILS)) {
            throw new IllegalStateException("not now");
        }
    }
}
