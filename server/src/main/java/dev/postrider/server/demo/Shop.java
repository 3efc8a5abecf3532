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
 * Writes an order and its message in one transaction, and rolls back one in twenty-five just before the commit.
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

    /** Rolls back a transaction on purpose. */
    private static final class ChangedMind extends RuntimeException {

        ChangedMind() {
            super("rolled back on purpose", null, false, false);
        }
    }

    /** Places one order, and counts its result. */
    void place(Postrider postrider) {
        UUID id = UUID.randomUUID();
        boolean changesMind = number.incrementAndGet() % CHANGE_OF_MIND == 0;
        try {
            postrider.inTransaction(work -> {
                Message message = insert(work, id);
                if (changesMind) {
                    // Inserted at once, so that the rollback also has a message row to remove.
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
