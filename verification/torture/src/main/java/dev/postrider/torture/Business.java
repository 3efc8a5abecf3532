package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.postgresql.PostgresDoorbell;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import javax.sql.DataSource;

/** The topics of a run, which are the same in every process, and the names used in the run's tables. */
final class Business {

    /** Ordered. A key whose head is dead waits for an operator. */
    static final String LEDGER = "ledger";

    /** Ordered. A key continues past a dead letter. */
    static final String FLOW = "flow";

    /** Not ordered. Workers also write to it, and deliver by local hand-over. */
    static final String NOTICES = "notices";

    /** Ordered, with a handler in the database. A key continues past a dead letter. Its handlers misbehave. */
    static final String CLEARING = "clearing";

    /** Not ordered, with a handler in the database. Its handlers misbehave. */
    static final String TASKS = "tasks";

    /** Not ordered, with large messages and a transport that blocks its caller. */
    static final String BULK = "bulk";

    /** The number of attempts on a topic whose handlers misbehave: so low that many messages become dead letters. */
    static final int TROUBLED_ATTEMPTS = 3;

    /** The row that some handlers update and that the harness locks for longer than a lease. */
    static final String CONTESTED = "contested";

    /** The consumer that handles in the transaction of the mark, and the consumer with a durable inbox. */
    static final String INLINE = "inline";

    static final String DURABLE = "durable";

    /** The type of messages that the receiver rejects. */
    static final String POISON = "poison";

    static final String PLAIN = "plain";

    /** Types of messages of the troubled topics. The type selects the behaviour of the handler. */
    static final String SLOW = "slow";

    static final String STUCK = "stuck";
    static final String LOCKED = "locked";
    static final String FAILING = "failing";

    static final String NUMBER_HEADER = "torture-number";
    static final int KEYS = 10_000;
    static final int TENANTS = 20;
    static final int LATE_KEYS = 20;
    static final int MAX_PAYLOAD = 64 * 1024;
    static final int MAX_BULK_PAYLOAD = 1024 * 1024;

    /** So few keys that messages of one key wait for each other. */
    static final int CLEARING_KEYS = 200;

    private static final int LANES = 16;

    private Business() {}

    /** @param delivery configures how the process delivers the topics; does nothing in a process that does not deliver */
    static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> delivery) {
        return configured(dataSource, delivery, (name, topic) -> {});
    }

    /** @param troubled configures how the process delivers the topics that misbehave, by topic name */
    private static PostriderBuilder configured(
            DataSource dataSource, Consumer<Topic.Builder> delivery, BiConsumer<String, Topic.Builder> troubled) {
        return Postrider.on(dataSource)
                .tables(tables ->
                        tables.maxPayloadBytes(MAX_BULK_PAYLOAD).archive(TableOptions.Archive.WITHOUT_PAYLOAD))
                .topic(LEDGER, topic -> delivery.accept(retried(topic.lanes(LANES))))
                .topic(FLOW, topic -> delivery.accept(retried(topic.lanes(LANES).blockAfterDeadLetter(false))))
                .topic(NOTICES, topic -> delivery.accept(retried(topic)))
                .topic(
                        CLEARING,
                        topic ->
                                troubled.accept(CLEARING, few(topic.lanes(LANES).blockAfterDeadLetter(false))))
                .topic(TASKS, topic -> troubled.accept(TASKS, few(topic)))
                .topic(BULK, topic -> troubled.accept(BULK, retried(topic)));
    }

    /** Adds the parts that only one of the databases supports. */
    static PostriderBuilder configured(Assignment assignment, DataSource dataSource, Consumer<Topic.Builder> delivery) {
        return configured(assignment, dataSource, delivery, (name, topic) -> {});
    }

    static PostriderBuilder configured(
            Assignment assignment,
            DataSource dataSource,
            Consumer<Topic.Builder> delivery,
            BiConsumer<String, Topic.Builder> troubled) {
        PostriderBuilder builder = configured(dataSource, delivery, troubled);
        return assignment.engine() == Engine.POSTGRESQL_18
                ? builder.doorbell(PostgresDoorbell.on(assignment.patient()))
                : builder;
    }

    private static Topic.Builder retried(Topic.Builder topic) {
        return topic.maxAttempts(Pace.MAX_ATTEMPTS)
                .baseDelay(Duration.ofMillis(100))
                .maxDelay(Duration.ofSeconds(2));
    }

    private static Topic.Builder few(Topic.Builder topic) {
        return retried(topic).maxAttempts(TROUBLED_ATTEMPTS);
    }

    /** The topics whose deliveries the receiver records. No other topic may disturb them. */
    static List<String> topics() {
        return List.of(LEDGER, FLOW, NOTICES);
    }

    /** The topics whose handlers and destinations misbehave. */
    static List<String> troubled() {
        return List.of(CLEARING, TASKS, BULK);
    }

    /** Whether messages of the topic are handled in the database, so that the receiver never gets them. */
    static boolean isHandled(String topic) {
        return topic.equals(CLEARING) || topic.equals(TASKS);
    }

    static boolean isOrdered(String topic) {
        return List.of(LEDGER, FLOW, CLEARING).contains(topic);
    }

    /** @param rank the frequency rank of the key; 0 is the most frequent */
    static String key(String topic, int rank) {
        int most = topic.equals(CLEARING) ? CLEARING_KEYS : KEYS;
        return topic.charAt(0) + "" + rank % most / TENANTS;
    }

    static String tenant(int rank) {
        return "t" + rank % TENANTS;
    }

    /** A separate key for long transactions, so that they block only each other. */
    static String lateKey(int which) {
        return "late" + which;
    }
}
