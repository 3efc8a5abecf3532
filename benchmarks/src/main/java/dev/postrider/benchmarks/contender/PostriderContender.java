package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.dispatch.Topic;
import dev.postrider.jdbc.JdbcOptions.Archive;
import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** Postrider, with a transport that confirms at once and room for several batches in flight. */
public final class PostriderContender implements Contender {

    /** One statement carries this many; more is no faster. */
    static final int BATCH = 500;

    static final int IN_FLIGHT = 4 * BATCH;

    /** How many keys the orders of an ordered topic have. */
    static final int KEYS = 1000;

    private static final String UNORDERED = "orders";
    private static final String ORDERED = "orders-in-order";
    private static final String PAUSED = "paused";

    /** What the keys begin with whose messages are refused. */
    private static final String REFUSED = "refused-";

    private static final List<String> TABLES = List.of("postrider_message", "postrider_archive", "postrider_dedup");

    private final String name;
    private final Arena arena;
    private final DataSource dataSource;
    private final Archive archive;
    private final Load load;
    private Postrider postrider;

    /** What is in its tables. */
    private enum Load {
        PLAIN,
        KEYED,
        ORDERED,
        BESIDE_A_PAUSED_TOPIC,
        ORDERED_BESIDE_A_PAUSED_TOPIC;

        boolean isOrdered() {
            return this == ORDERED || this == ORDERED_BESIDE_A_PAUSED_TOPIC;
        }

        boolean isBesideAPausedTopic() {
            return this == BESIDE_A_PAUSED_TOPIC || this == ORDERED_BESIDE_A_PAUSED_TOPIC;
        }
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

    /** One key in sequence, different keys side by side; delivered messages are archived. */
    public static PostriderContender ordered(Arena arena, DataSource dataSource) {
        return new PostriderContender("postrider ordered", arena, dataSource, Archive.FULL, Load.ORDERED);
    }

    /** The same, and delivered messages are deleted. */
    public static PostriderContender orderedDeleting(Arena arena, DataSource dataSource) {
        return new PostriderContender(
                "postrider ordered without archive", arena, dataSource, Archive.OFF, Load.ORDERED);
    }

    /** It also delivers a topic that is paused, in which messages may wait; see {@link #fillPaused}. */
    public static PostriderContender besidePausedTopic(Arena arena, DataSource dataSource) {
        return new PostriderContender(
                "postrider beside a paused topic", arena, dataSource, Archive.FULL, Load.BESIDE_A_PAUSED_TOPIC);
    }

    /** The same of ordered topics. */
    public static PostriderContender orderedBesidePausedTopic(Arena arena, DataSource dataSource) {
        return new PostriderContender(
                "postrider ordered beside a paused topic",
                arena,
                dataSource,
                Archive.FULL,
                Load.ORDERED_BESIDE_A_PAUSED_TOPIC);
    }

    private Postrider build(Receiver receiver) {
        PostriderBuilder builder = Postrider.on(dataSource)
                .tables(tables -> tables.withArchive(archive))
                .dispatch(dispatch -> dispatch.batchSize(BATCH).maxInFlight(IN_FLIGHT))
                .topic(topic(), topic -> inOrder(topic).deliver(new Confirming(receiver)));
        return load.isBesideAPausedTopic()
                ? builder.topic(pausedTopic(), topic -> inOrder(topic).deliver(new Confirming(receiver)))
                        .build()
                : builder.build();
    }

    /** Whether a topic is ordered is decided once, so each kind has topics of its own. */
    private String topic() {
        return load.isOrdered() ? ORDERED : UNORDERED;
    }

    private String pausedTopic() {
        return load.isOrdered() ? PAUSED + "-in-order" : PAUSED;
    }

    private Topic.Builder inOrder(Topic.Builder topic) {
        topic.maxInFlight(IN_FLIGHT);
        return load.isOrdered() ? topic.ordered() : topic;
    }

    /** Confirms everything at once, but for keys that are to be refused: what is left to measure is the database's work and ours. */
    private record Confirming(Receiver receiver) implements Transport {

        private static final CompletionStage<DeliveryResult> DELIVERED =
                CompletableFuture.completedFuture(DeliveryResult.delivered());

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            String key = delivery.message().key();
            if (key != null && key.startsWith(REFUSED)) {
                return CompletableFuture.completedFuture(DeliveryResult.rejected("refused"));
            }
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
        if (load.isBesideAPausedTopic()) {
            postrider.admin().pause(pausedTopic(), "benchmark");
        }
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
        if (load.isOrdered()) {
            // Where numbers begin anew with the table, nothing would be looked for below the floors of the old ones.
            arena.execute(List.of("UPDATE postrider_lane SET floor = 0"));
        }
    }

    @Override
    public void transact(Order order) throws SQLException {
        postrider.inTransaction(work -> {
            order.insert(work.connection());
            work.stage(message(order));
        });
    }

    private Message message(Order order) {
        Message.Builder builder = Message.to(topic()).type("order.placed").json(order.json());
        if (load == Load.KEYED) {
            builder.idempotencyKey("order-" + order.number());
        }
        return load.isOrdered() ? builder.key(key(order)).build() : builder.build();
    }

    static String key(Order order) {
        return "customer-" + order.number() % KEYS;
    }

    @Override
    public void fill(int messages) throws SQLException {
        fill(topic(), messages);
    }

    /** Puts messages into the paused topic, where they stay until {@link #clear}. */
    public void fillPaused(int messages) throws SQLException {
        fill(pausedTopic(), messages);
    }

    private void fill(String topic, int messages) throws SQLException {
        fill(
                postrider,
                dataSource,
                messages,
                order -> Message.to(topic)
                        .type("order.placed")
                        .key(load.isOrdered() ? key(order) : null)
                        .json(order.json())
                        .build());
    }

    /** Leaves so many messages waiting in a few keys of an ordered topic, behind a first one that was refused. */
    public void block(int messages, int keys) throws Exception {
        fill(
                postrider,
                dataSource,
                messages,
                order -> Message.to(topic())
                        .type("order.placed")
                        .key(REFUSED + order.number() % keys)
                        .json(order.json())
                        .build());
        start(new Receiver(0));
        while (arena.count("postrider_message WHERE state = 'PENDING'") > 0) {
            Thread.sleep(20);
        }
        stop();
    }

    /** Writes orders 0 and following. */
    static void fill(Postrider postrider, DataSource dataSource, int messages, Function<Order, Message> message)
            throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            for (int start = 0; start < messages; start += 10 * BATCH) {
                List<Message> batch = IntStream.range(start, Math.min(start + 10 * BATCH, messages))
                        .mapToObj(number -> message.apply(new Order(number)))
                        .toList();
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
        return arena.count("postrider_message WHERE state IN ('PENDING', 'PROCESSING') AND topic = '" + topic() + "'");
    }

    @Override
    public void close() {
        postrider.close();
    }
}
