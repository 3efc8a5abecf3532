package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.jdbc.JdbcOptions.Archive;
import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;

/** Postrider, with a transport that confirms at once and room for several batches in flight. */
public final class PostriderContender implements Contender {

    /** One statement carries this many; more is no faster. */
    static final int BATCH = 500;

    static final int IN_FLIGHT = 4 * BATCH;

    private static final String PAUSED = "paused";

    private static final List<String> TABLES = List.of("postrider_message", "postrider_archive", "postrider_dedup");

    private final String name;
    private final Arena arena;
    private final DataSource dataSource;
    private final Archive archive;
    private final Load load;
    private Postrider postrider;

    /** What is in its tables, besides the messages of the backlog. */
    private enum Load {
        PLAIN,
        KEYED,
        BESIDE_A_PAUSED_TOPIC
    }

    private PostriderContender(String name, Arena arena, DataSource dataSource, Archive archive, Load load) {
        this.name = name;
        this.arena = arena;
        this.dataSource = dataSource;
        this.archive = archive;
        this.load = load;
        this.postrider = build(new Receiver(0));
    }

    /** As it comes: delivered messages are archived. */
    public static Contender archiving(Arena arena, DataSource dataSource) {
        return new PostriderContender("postrider", arena, dataSource, Archive.FULL, Load.PLAIN);
    }

    /** Delivered messages are deleted, as the peers do it. */
    public static Contender deleting(Arena arena, DataSource dataSource) {
        return new PostriderContender("postrider without archive", arena, dataSource, Archive.OFF, Load.PLAIN);
    }

    /** Every message has an idempotency key. */
    public static Contender keyed(Arena arena, DataSource dataSource) {
        return new PostriderContender("postrider keyed", arena, dataSource, Archive.FULL, Load.KEYED);
    }

    /** It also delivers a topic that is paused, in which messages may wait; see {@link #fillPaused}. */
    public static PostriderContender besidePausedTopic(Arena arena, DataSource dataSource) {
        return new PostriderContender(
                "postrider beside a paused topic", arena, dataSource, Archive.FULL, Load.BESIDE_A_PAUSED_TOPIC);
    }

    private Postrider build(Receiver receiver) {
        PostriderBuilder builder = Postrider.on(dataSource)
                .tables(tables -> tables.withArchive(archive))
                .dispatch(dispatch -> dispatch.batchSize(BATCH).maxInFlight(IN_FLIGHT))
                .topic(
                        "orders",
                        topic -> topic.deliver(new Confirming(receiver)).maxInFlight(IN_FLIGHT));
        return load == Load.BESIDE_A_PAUSED_TOPIC
                ? builder.topic(PAUSED, topic -> topic.deliver(new Confirming(receiver)))
                        .build()
                : builder.build();
    }

    /** Confirms everything at once: what is left to measure is the database's work and ours. */
    private record Confirming(Receiver receiver) implements Transport {

        private static final CompletionStage<DeliveryResult> DELIVERED =
                CompletableFuture.completedFuture(DeliveryResult.delivered());

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            receiver.receive(Order.numberIn(delivery.message().payload().bytes()));
            return DELIVERED;
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(10);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare() {
        postrider.migrate();
        if (load == Load.BESIDE_A_PAUSED_TOPIC) {
            postrider.admin().pause(PAUSED, "benchmark");
        }
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
    }

    @Override
    public void transact(Order order) throws SQLException {
        postrider.inTransaction(work -> {
            order.insert(work.connection());
            work.stage(message(order));
        });
    }

    private Message message(Order order) {
        Message.Builder builder = Message.to("orders").type("order.placed").json(order.json());
        return load == Load.KEYED
                ? builder.idempotencyKey("order-" + order.number()).build()
                : builder.build();
    }

    @Override
    public void fill(int messages) throws SQLException {
        fill(postrider, dataSource, "orders", messages);
    }

    /** Puts messages into the paused topic, where they stay until {@link #clear}. */
    public void fillPaused(int messages) throws SQLException {
        fill(postrider, dataSource, PAUSED, messages);
    }

    /** Writes orders 0 and following. */
    static void fill(Postrider postrider, DataSource dataSource, String topic, int messages) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            for (int start = 0; start < messages; start += 10 * BATCH) {
                List<Message> batch = new ArrayList<>();
                for (int number = start; number < Math.min(start + 10 * BATCH, messages); number++) {
                    batch.add(Message.to(topic)
                            .type("order.placed")
                            .json(new Order(number).json())
                            .build());
                }
                postrider.outbox(connection).enqueueAll(batch);
                connection.commit();
            }
            connection.setAutoCommit(true);
        }
    }

    @Override
    public void start(Receiver receiver) {
        postrider = build(receiver);
        postrider.start();
    }

    @Override
    public void stop() {
        postrider.stop();
    }

    @Override
    public long unfinished() {
        return arena.count("postrider_message WHERE topic = 'orders'");
    }

    @Override
    public void close() {
        postrider.close();
    }
}
