package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.jdbc.JdbcOptions;
import dev.postrider.postgresql.PostgresDoorbell;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The topics of a run, the same in every process, and the tables beside Postrider's. */
final class Business {

    /** Ordered; a key whose first message is dead waits for an operator. */
    static final String LEDGER = "ledger";

    /** Ordered; a key goes on behind a dead letter. */
    static final String FLOW = "flow";

    /** Not ordered; workers write to it too, and have it handed over. */
    static final String NOTICES = "notices";

    /** Who handles in the transaction of the mark, and who in one of its own later. */
    static final String INLINE = "inline";

    static final String DURABLE = "durable";

    /** The type of messages that the receiver rejects. */
    static final String POISON = "poison";

    static final String PLAIN = "plain";
    static final String NUMBER_HEADER = "torture-number";
    static final int KEYS = 10_000;
    static final int TENANTS = 20;
    static final int LATE_KEYS = 20;
    static final int MAX_PAYLOAD = 64 * 1024;

    private static final int LANES = 16;

    private Business() {}

    /** @param delivery how the process delivers the topics; nothing if it does not */
    static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> delivery) {
        return Postrider.on(dataSource)
                .tables(tables ->
                        tables.withMaxPayloadBytes(MAX_PAYLOAD).withArchive(JdbcOptions.Archive.WITHOUT_PAYLOAD))
                .topic(LEDGER, topic -> delivery.accept(retried(topic.lanes(LANES))))
                .topic(FLOW, topic -> delivery.accept(retried(topic.lanes(LANES).holdAfterDeadLetter(false))))
                .topic(NOTICES, topic -> delivery.accept(retried(topic)));
    }

    /** The same with what only one of the databases has. */
    static PostriderBuilder configured(Assignment assignment, DataSource dataSource, Consumer<Topic.Builder> delivery) {
        PostriderBuilder builder = configured(dataSource, delivery);
        return assignment.engine() == Engine.POSTGRESQL_18
                ? builder.doorbell(PostgresDoorbell.on(assignment.patient()))
                : builder;
    }

    private static Topic.Builder retried(Topic.Builder topic) {
        return topic.maxAttempts(Pace.MAX_ATTEMPTS)
                .baseDelay(Duration.ofMillis(100))
                .maxDelay(Duration.ofSeconds(2));
    }

    static List<String> topics() {
        return List.of(LEDGER, FLOW, NOTICES);
    }

    /** @param rank how frequent it is, from 0 */
    static String key(String topic, int rank) {
        return topic.charAt(0) + "" + rank / TENANTS;
    }

    static String tenant(int rank) {
        return "t" + rank % TENANTS;
    }

    /** A key of its own for transactions that take long, so that they keep nobody but each other waiting. */
    static String lateKey(int which) {
        return "late" + which;
    }
}
