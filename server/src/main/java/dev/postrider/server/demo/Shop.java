package dev.postrider.server.demo;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.outbox.UnitOfWork;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an order and its message in one transaction, and rolls back one in twenty-five just before the commit. Every tenth
 * order also sends a mail and changes the stock of an item, to two topics that do not work on purpose. Thread-safe.
 */
final class Shop {

    static final String TOPIC = "orders";

    /** The topic whose destination fails. */
    static final String MAIL = "mail";

    /** The ordered topic in which one key is refused. */
    static final String STOCK = "stock";

    static final String POISONED_ITEM = "item-7";

    static final String CREATE_TABLE = """
            CREATE TABLE shop_order (
                id     UUID PRIMARY KEY,
                cents  BIGINT NOT NULL
            )
            """;

    private static final Logger log = LoggerFactory.getLogger(Shop.class);
    private static final int CHANGE_OF_MIND = 25;
    private static final int TROUBLE_EACH = 10;
    private static final int ITEMS = 10;

    private final AtomicInteger number = new AtomicInteger();
    private final AtomicLong placed = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final Set<UUID> rolledBack = ConcurrentHashMap.newKeySet();
    private final Set<MessageId> troubled = ConcurrentHashMap.newKeySet();

    /** Rolls back a transaction on purpose. */
    private static final class ChangedMind extends RuntimeException {

        ChangedMind() {
            super("rolled back on purpose", null, false, false);
        }
    }

    /** Places one order, and counts its result. */
    void place(Postrider postrider) {
        UUID id = UUID.randomUUID();
        int turn = number.incrementAndGet();
        boolean changesMind = turn % CHANGE_OF_MIND == 0;
        List<Message> more = turn % TROUBLE_EACH == 0 && !changesMind ? troubled(id, turn / TROUBLE_EACH) : List.of();
        try {
            postrider.inTransaction(work -> {
                Message message = insert(work, id);
                if (changesMind) {
                    // Inserted at once, so that the rollback also has a message row to remove.
                    work.outbox().enqueue(message);
                    throw new ChangedMind();
                }
                work.stage(message);
                more.forEach(work::stage);
            });
            more.forEach(message -> troubled.add(message.id()));
            placed.incrementAndGet();
        } catch (ChangedMind e) {
            rolledBack.add(id);
        } catch (SQLException | RuntimeException e) {
            failed.incrementAndGet();
            log.warn("An order could not be placed", e);
        }
    }

    private static Message insert(UnitOfWork work, UUID id) throws SQLException {
        long cents = ThreadLocalRandom.current().nextLong(100, 100_000);
        try (PreparedStatement insert =
                work.connection().prepareStatement("INSERT INTO shop_order (id, cents) VALUES (?, ?)")) {
            insert.setObject(1, id);
            insert.setLong(2, cents);
            insert.executeUpdate();
        }
        return Message.to(TOPIC)
                .type("order.placed")
                .key(id.toString())
                .json("{\"order\":\"" + id + "\",\"cents\":" + cents + "}")
                .build();
    }

    private static List<Message> troubled(UUID order, int turn) {
        String item = "item-" + turn % ITEMS;
        return List.of(
                Message.to(MAIL)
                        .type("mail.requested")
                        .json("{\"order\":\"" + order + "\"}")
                        .build(),
                Message.to(STOCK)
                        .type("stock.changed")
                        .key(item)
                        .json("{\"order\":\"" + order + "\",\"item\":\"" + item + "\"}")
                        .build());
    }

    /** The messages to the two topics that do not work, as far as their commit succeeded here. */
    Set<MessageId> troubled() {
        return Set.copyOf(troubled);
    }

    /** The number of orders whose commit succeeded here. The table is the truth. */
    long placed() {
        return placed.get();
    }

    /** The number of orders that could not be placed, without the intended rollbacks. */
    long failed() {
        return failed.get();
    }

    Set<UUID> rolledBack() {
        return Set.copyOf(rolledBack);
    }
}
