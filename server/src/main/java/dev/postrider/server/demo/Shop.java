package dev.postrider.server.demo;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an order and its message in one transaction, and changes its mind about one in twenty-five just before the commit.
 * Thread-safe.
 */
final class Shop {

    static final String TOPIC = "orders";

    static final String CREATE_TABLE = """
            CREATE TABLE shop_order (
                id     UUID PRIMARY KEY,
                cents  BIGINT NOT NULL
            )
            """;

    private static final Logger log = LoggerFactory.getLogger(Shop.class);
    private static final int CHANGE_OF_MIND = 25;

    private final AtomicInteger number = new AtomicInteger();
    private final AtomicLong placed = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final Set<UUID> rolledBack = ConcurrentHashMap.newKeySet();

    /** Thrown in the middle of a transaction, on purpose. */
    private static final class ChangedMind extends RuntimeException {

        ChangedMind() {
            super("changed its mind", null, false, false);
        }
    }

    /** Places one order, and takes note of what became of it. */
    void place(Postrider postrider) {
        UUID id = UUID.randomUUID();
        boolean changesMind = number.incrementAndGet() % CHANGE_OF_MIND == 0;
        try {
            postrider.inTransaction(work -> {
                Message message = insert(work, id);
                if (changesMind) {
                    // Written at once, so that there is a row to be rolled back with the order's.
                    work.outbox().enqueue(message);
                    throw new ChangedMind();
                }
                work.stage(message);
            });
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

    /** How many orders were committed, as the shop was told. The table is the truth. */
    long placed() {
        return placed.get();
    }

    /** How many could not be placed, none of them on purpose. */
    long failed() {
        return failed.get();
    }

    Set<UUID> rolledBack() {
        return Set.copyOf(rolledBack);
    }
}
