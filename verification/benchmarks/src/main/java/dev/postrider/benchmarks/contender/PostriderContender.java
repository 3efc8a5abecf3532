package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.dispatch.Topic;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.store.TableOptions.Archive;
import dev.postrider.transport.Transport;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** Postrider with a transport that confirms at once, and several batches in flight. */
public final class PostriderContender implements Contender {

    /** The size of a batch; larger ones are no faster. */
    static final int BATCH = 500;

    static final int IN_FLIGHT = 4 * BATCH;

    /** The number of keys on an ordered topic. */
    private static final int KEYS = 1000;

    private static final List<String> TABLES = List.of("postrider_message", "postrider_archive", "postrider_dedup");

    private static final long LOOK_EVERY_MILLIS = 20;

    /** The name of the copy of blocked messages. */
    private static final String BLOCKED_ROWS = "blocked";

    /** The condition of a second topic in which messages may wait. */
    public enum Neighbour {
        /** There is no second topic. */
        NONE,
        /** The topic has no messages. */
        EMPTY,
        /** The topic is paused. */
        PAUSED,
        /** The destination does not answer. */
        SILENT,
        /** The destination fails every message at once. */
        FAILING
    }

    /** @param keyed whether messages have an idempotency key */
    private record Shape(boolean ordered, boolean keyed, Archive archive, Neighbour neighbour) {

        /** Each kind has its own topics, since a topic cannot change between ordered and unordered. */
        String topic() {
            return ordered ? "orders-in-order" : "orders";
        }

        String neighbourTopic() {
            String topic = switch (neighbour) {
                case PAUSED -> "paused";
                case EMPTY -> "empty";
                case NONE, SILENT, FAILING -> "down";
            };
            return topic + (ordered ? "-in-order" : "");
        }

        Topic.Builder inOrder(Topic.Builder topic) {
            return ordered ? topic.ordered() : topic;
        }
    }

    private final String name;
    private final Arena arena;
    private final DataSource dataSource;
    private final Shape shape;
    private final SilentTransport silent = new SilentTransport();
    private Postrider postrider;

    private PostriderContender(String name, Arena arena, DataSource dataSource, Shape shape) {
        this.name = name;
        this.arena = arena;
        this.dataSource = dataSource;
        this.shape = shape;
        this.postrider = build(new Receiver(0));
    }

    /** Default settings: delivered messages are archived. */
    public static Contender archiving(Arena arena, DataSource dataSource) {
        return of("postrider", arena, dataSource, new Shape(false, false, Archive.FULL, Neighbour.NONE));
    }

    /** Delivered messages are deleted, as the peers do it. */
    public static Contender deleting(Arena arena, DataSource dataSource) {
        return of("postrider without archive", arena, dataSource, new Shape(false, false, Archive.OFF, Neighbour.NONE));
    }

    /** Every message has an idempotency key. */
    public static Contender keyed(Arena arena, DataSource dataSource) {
        return of("postrider keyed", arena, dataSource, new Shape(false, true, Archive.FULL, Neighbour.NONE));
    }

    /** One key in sequence, different keys in parallel. Delivered messages are archived. */
    public static PostriderContender ordered(Arena arena, DataSource dataSource) {
        return of("postrider ordered", arena, dataSource, new Shape(true, false, Archive.FULL, Neighbour.NONE));
    }

    /** As {@link #ordered}, but delivered messages are deleted. */
    public static PostriderContender orderedDeleting(Arena arena, DataSource dataSource) {
        return of(
                "postrider ordered without archive",
                arena,
                dataSource,
                new Shape(true, false, Archive.OFF, Neighbour.NONE));
    }

    /** Also delivers a second topic, in which messages may wait; see {@link #fillNeighbour}. */
    public static PostriderContender beside(Neighbour neighbour, boolean ordered, Arena arena, DataSource dataSource) {
        return of(
                "postrider beside another topic",
                arena,
                dataSource,
                new Shape(ordered, false, Archive.FULL, neighbour));
    }

    private static PostriderContender of(String name, Arena arena, DataSource dataSource, Shape shape) {
        return new PostriderContender(name, arena, dataSource, shape);
    }

    private Postrider build(Receiver receiver) {
        PostriderBuilder builder = Postrider.on(dataSource)
                .tables(tables -> tables.archive(shape.archive()))
                .dispatch(dispatch -> dispatch.batchSize(BATCH).maxInFlight(IN_FLIGHT))
                .topic(
                        shape.topic(),
                        topic ->
                                shape.inOrder(topic).maxInFlight(IN_FLIGHT).deliver(new ConfirmingTransport(receiver)));
        StageTimes stages = receiver.stages();
        if (stages != null) {
            builder.listener(event -> record(event, stages));
        }
        return shape.neighbour() == Neighbour.NONE
                ? builder.build()
                : builder.topic(
                                shape.neighbourTopic(),
                                topic -> shape.inOrder(topic).deliver(neighbour()))
                        .build();
    }

    private static void record(Event event, StageTimes stages) {
        if (event instanceof Event.Delivered delivered) {
            int number = Order.numberIn(delivered.message().payload().bytes());
            stages.written(number, delivered.took());
        }
    }

    private Transport neighbour() {
        return shape.neighbour() == Neighbour.FAILING ? new FailingTransport() : silent.silent();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare() {
        postrider.migrate();
        if (shape.neighbour() == Neighbour.PAUSED) {
            postrider.admin().pause(shape.neighbourTopic(), "benchmark");
        }
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
        if (shape.ordered()) {
            // Where row numbers restart with the table, no message would be found below the old lane floors.
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
        Message.Builder builder = Message.to(shape.topic()).type("order.placed").json(order.json());
        if (shape.keyed()) {
            builder.idempotencyKey("order-" + order.number());
        }
        return shape.ordered() ? builder.key(key(order)).build() : builder.build();
    }

    static String key(Order order) {
        return "customer-" + order.number() % KEYS;
    }

    @Override
    public void fill(int messages) throws SQLException {
        if (arena.copies().fill("postrider_message", shape.topic(), messages)) {
            return;
        }
        fill(postrider, dataSource, messages, this::message);
        arena.copies().keep("postrider_message", shape.topic(), messages);
    }

    /** Writes messages to the second topic, where they stay until {@link #clear}. */
    public void fillNeighbour(int messages) throws SQLException {
        if (arena.copies().fill("postrider_message", shape.neighbourTopic(), messages)) {
            return;
        }
        fill(
                postrider,
                dataSource,
                messages,
                order -> Message.to(shape.neighbourTopic())
                        .type("order.placed")
                        .key(key(order))
                        .json(order.json())
                        .build());
        arena.copies().keep("postrider_message", shape.neighbourTopic(), messages);
    }

    /**
     * Leaves this many messages blocked in a few keys of an ordered topic, behind a head that was refused. Only the first call delivers:
     * the later ones copy the blocked rows, so that a drain follows that differs from others in nothing but these rows.
     */
    public void block(int messages, int keys) throws Exception {
        if (arena.copies().fill("postrider_message", BLOCKED_ROWS, messages)) {
            return;
        }
        fill(
                postrider,
                dataSource,
                messages,
                order -> Message.to(shape.topic())
                        .type("order.placed")
                        .key(ConfirmingTransport.REFUSED + order.number() % keys)
                        .json(order.json())
                        .build());
        start(new Receiver(0));
        while (unfinished() > 0) {
            Thread.sleep(LOOK_EVERY_MILLIS);
        }
        stop();
        arena.copies().keep("postrider_message", BLOCKED_ROWS, messages);
    }

    /** Writes orders from 0 on. */
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
        silent.answer();
        postrider.stop();
    }

    @Override
    public long unfinished() {
        return arena.count(
                "postrider_message WHERE state IN ('PENDING', 'PROCESSING') AND topic = '" + shape.topic() + "'");
    }

    @Override
    public void close() {
        postrider.close();
    }
}
