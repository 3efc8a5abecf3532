package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.inbox.Inbox;
import dev.postrider.store.TableOptions.Archive;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** Postrider's durable inbox with one handler that inserts one order. */
public final class DurableInboxContender implements Contender {

    /** The number of handler threads, each with a connection. */
    static final int THREADS = 4;

    private static final int BATCH = 500;
    private static final List<String> TABLES =
            List.of("postrider_message", "postrider_archive", "postrider_inbox_mark", "postrider_dedup");

    private final String name;
    private final Arena arena;
    private final DataSource dataSource;
    private final int perTransaction;
    private Postrider postrider;

    private DurableInboxContender(String name, Arena arena, DataSource dataSource, int perTransaction) {
        this.name = name;
        this.arena = arena;
        this.dataSource = dataSource;
        this.perTransaction = perTransaction;
        this.postrider = build(new Receiver(0));
    }

    /** One transaction for each message. */
    public static Contender oneByOne(Arena arena, DataSource dataSource) {
        return new DurableInboxContender("durable inbox", arena, dataSource, 1);
    }

    /** One transaction for many messages, each with its own savepoint. */
    public static Contender manyAtOnce(Arena arena, DataSource dataSource) {
        return new DurableInboxContender("durable inbox, 50 per transaction", arena, dataSource, 50);
    }

    private Postrider build(Receiver receiver) {
        return Postrider.on(dataSource)
                .tables(tables -> tables.archive(Archive.OFF))
                .dispatch(dispatch -> dispatch.batchSize(BATCH).maxInFlight(4 * BATCH))
                .inbox(
                        "bench",
                        inbox -> inbox.handler(
                                "insert-order",
                                List.of("order.placed"),
                                (message, work) -> {
                                    Order order = new Order(
                                            Order.numberIn(message.payload().bytes()));
                                    order.insert(work.connection());
                                    receiver.receive(order.number());
                                },
                                topic -> topic.maxInFlight(4 * BATCH)
                                        .handlerThreads(THREADS)
                                        .handlersPerTransaction(perTransaction)))
                .build();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare() {
        postrider.migrate();
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
    }

    @Override
    public void transact(Order order) {
        throw new UnsupportedOperationException("It handles what it received");
    }

    @Override
    public void fill(int messages) {
        Inbox inbox = postrider.inbox("bench");
        for (int start = 0; start < messages; start += BATCH) {
            inbox.receive(IntStream.range(start, Math.min(start + BATCH, messages))
                    .mapToObj(Order::new)
                    .map(InlineInbox::received)
                    .toList());
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
        return arena.count("postrider_message WHERE state <> 'DEAD'");
    }

    @Override
    public void close() {
        postrider.close();
    }
}
