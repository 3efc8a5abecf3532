package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Topic;
import dev.postrider.jdbc.JdbcOptions;
import dev.postrider.postgresql.PostgresDoorbell;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import java.util.function.BiConsumer;
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

    /** Ordered, handled in the database; a key goes on behind a dead letter. Its handlers misbehave. */
    static final String CLEARING = "clearing";

    /** Not ordered, handled in the database. Its handlers misbehave. */
    static final String TASKS = "tasks";

    /** Not ordered, with large messages, by a transport that blocks its caller. */
    static final String BULK = "bulk";

    /** How often a message of a troubled topic is tried: so few that many become dead letters. */
    static final int TROUBLED_ATTEMPTS = 3;

    /** The row that some handlers want and the harness locks for longer than a lease. */
    static final String CONTESTED = "contested";

    /** Who handles in the transaction of the mark, and who in one of its own later. */
    static final String INLINE = "inline";

    static final String DURABLE = "durable";

    /** The type of messages that the receiver rejects. */
    static final String POISON = "poison";

    static final String PLAIN = "plain";

    /** Types of messages of the troubled topics, by what their handler does. */
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

    /** So few that messages of a key wait for each other. */
    static final int CLEARING_KEYS = 200;

    private static final int LANES = 16;

    private Business() {}

    /** @param delivery how the process delivers the topics; nothing if it does not */
    static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> delivery) {
        return configured(dataSource, delivery, (name, topic) -> {});
    }

    /** @param troubled how the process delivers the topics that misbehave, by their names */
    private static PostriderBuilder configured(
            DataSource dataSource, Consumer<Topic.Builder> delivery, BiConsumer<String, Topic.Builder> troubled) {
        return Postrider.on(dataSource)
                .tables(tables ->
                        tables.withMaxPayloadBytes(MAX_BULK_PAYLOAD).withArchive(JdbcOptions.Archive.WITHOUT_PAYLOAD))
                .topic(LEDGER, topic -> delivery.accept(retried(topic.lanes(LANES))))
                .topic(FLOW, topic -> delivery.accept(retried(topic.lanes(LANES).holdAfterDeadLetter(false))))
                .topic(NOTICES, topic -> delivery.accept(retried(topic)))
                .topic(
                        CLEARING,
                        topic ->
                                troubled.accept(CLEARING, few(topic.lanes(LANES).holdAfterDeadLetter(false))))
                .topic(TASKS, topic -> troubled.accept(TASKS, few(topic)))
                .topic(BULK, topic -> troubled.accept(BULK, retried(topic)));
    }

    /** The same with what only one of the databases has. */
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

    /** The topics whose deliveries the receiver sees and no other topic may disturb. */
    static List<String> topics() {
        return List.of(LEDGER, FLOW, NOTICES);
    }

    /** The topics whose handlers and destinations misbehave. */
    static List<String> troubled() {
        return List.of(CLEARING, TASKS, BULK);
    }

    /** Whether its messages are handled in the database, so that the receiver never sees them. */
    static boolean isHandled(String topic) {
        return topic.equals(CLEARING) || topic.equals(TASKS);
    }

    static boolean isOrdered(String topic) {
        return List.of(LEDGER, FLOW, CLEARING).contains(topic);
    }

    /** @param rank how frequent it is, from 0 */
    static String key(String topic, int rank) {
        int most = topic.equals(CLEARING) ? CLEARING_KEYS : KEYS;
        return topic.charAt(0) + "" + rank % most / TENANTS;
    }

    static String tenant(int rank) {
        return "t" + rank % TENANTS;
    }

    /** A key of its own for transactions that take long, so that they keep nobody but each other waiting. */
    static String lateKey(int which) {
        return "late" + which;
    }
}
