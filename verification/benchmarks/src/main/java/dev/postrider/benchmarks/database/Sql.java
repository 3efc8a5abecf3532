package dev.postrider.benchmarks.database;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;

/**
 * The statements that a careful developer would write by hand against Postrider's tables, per database: nothing that the job does not
 * need. The tables have the prefix {@code hand_}.
 */
public enum Sql {
    POSTGRESQL(
            "CREATE TABLE IF NOT EXISTS bench_order (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, number bigint NOT NULL,"
                    + " customer text NOT NULL, amount numeric(10, 2) NOT NULL)",
            """
            INSERT INTO hand_message (id, topic_id, topic, type, idempotency_key, payload)
            VALUES (?, ?, 'orders', 'order.placed', ?, ?)
            """,
            "INSERT INTO hand_dedup (topic_id, key_hash, message_id, payload_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING") {
        @Override
        public Object uuid(UUID value) {
            return value;
        }

        @Override
        List<String> copy(String from, String to) {
            // Without a log, as it is made anew by each run.
            return List.of(
                    "CREATE UNLOGGED TABLE " + to + " AS SELECT * FROM " + from + " ORDER BY seq",
                    "ALTER TABLE " + to + " ADD PRIMARY KEY (seq)",
                    "VACUUM ANALYZE " + to);
        }
    },

    INNODB(
            "CREATE TABLE IF NOT EXISTS bench_order (id BIGINT AUTO_INCREMENT PRIMARY KEY, number BIGINT NOT NULL,"
                    + " customer VARCHAR(100) NOT NULL, amount DECIMAL(10, 2) NOT NULL)",
            """
            INSERT INTO hand_message (id, topic_id, topic, type, idempotency_key, payload, available_at, created_at)
            VALUES (?, ?, 'orders', 'order.placed', ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))
            """,
            "INSERT IGNORE INTO hand_dedup (topic_id, key_hash, message_id, payload_hash, seen_at)"
                    + " VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))") {
        @Override
        public Object uuid(UUID value) {
            return ByteBuffer.allocate(16)
                    .putLong(value.getMostSignificantBits())
                    .putLong(value.getLeastSignificantBits())
                    .array();
        }

        @Override
        List<String> copy(String from, String to) {
            return List.of("CREATE TABLE " + to + " (PRIMARY KEY (seq)) AS SELECT * FROM " + from + " ORDER BY seq");
        }
    };

    /** The business part of every transaction. */
    public static final String INSERT_ORDER = "INSERT INTO bench_order (number, customer, amount) VALUES (?, ?, ?)";

    private final String createOrders;
    private final String insertMessage;
    private final String insertMark;

    Sql(String createOrders, String insertMessage, String insertMark) {
        this.createOrders = createOrders;
        this.insertMessage = insertMessage;
        this.insertMark = insertMark;
    }

    static Sql of(String url) {
        return url.startsWith("jdbc:postgresql:") ? POSTGRESQL : INNODB;
    }

    String createOrders() {
        return createOrders;
    }

    public String insertMessage() {
        return insertMessage;
    }

    public String insertMark() {
        return insertMark;
    }

    public abstract Object uuid(UUID value);

    /** Makes a copy of a table of messages, without its indexes. */
    abstract List<String> copy(String from, String to);
}
