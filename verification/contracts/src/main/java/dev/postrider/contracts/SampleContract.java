package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.admin.Count;
import dev.postrider.admin.Repair;
import dev.postrider.admin.Sample;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.TopicSample;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.event.Event;
import dev.postrider.event.NodeLoad;
import dev.postrider.idempotency.Command;
import dev.postrider.internal.store.SampleStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.DatabaseClock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The contract of samples: what they count, where they end, and that one node takes them for all. */
public abstract class SampleContract extends DatabaseContract {

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private SampleStore store() {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .samples();
    }

    /** Takes a new sample and reads it. */
    private Sample sample() {
        new DatabaseClock(dataSource()).advance(INTERVAL.multipliedBy(100)); // now it is due
        assertThat(store().takeIfDue(INTERVAL, "node-1")).isTrue();
        return store().read().sample().orElseThrow();
    }

    private TopicSample topicSample() {
        return sample().topics().stream()
                .filter(sample -> sample.topic().equals(TopicName.of(topic)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void sampleCountsEveryStateOfAnUnorderedTopic() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 8);
        enqueue(
                postrider,
                message().deliverAt(Instant.now().plus(Duration.ofDays(300))).build());
        List<Claim> claims = postrider.store().claim(request().limit(5));
        postrider.store().bury(claims.get(0), DeadReason.REJECTED, "no");
        postrider.store().reschedule(claims.get(1), Duration.ofDays(200), "later");
        postrider.store().reschedule(claims.get(2), Duration.ZERO, "now");
        postrider.store().acknowledge(claims.get(3));

        TopicSample sample = topicSample();

        assertThat(sample.waiting()).isEqualTo(Count.exactly(3));
        assertThat(sample.scheduled()).isEqualTo(Count.exactly(1));
        assertThat(sample.retrying()).as("due or not").isEqualTo(Count.exactly(2));
        assertThat(sample.processing()).isEqualTo(Count.exactly(1));
        assertThat(sample.dead()).isEqualTo(Count.exactly(1));
        assertThat(sample.backlog()).isEqualTo(Count.exactly(7));
        assertThat(sample.expiredLeases()).as("its lease has ended").isEqualTo(Count.exactly(1));
        assertThat(sample.blockedKeys()).isEqualTo(Count.ZERO);
        assertThat(sample.paused()).isFalse();
        assertThat(sample.nodes()).isZero();
        assertThat(sample.isStranded()).isTrue();
    }

    @Test
    void oldestMessageMayBeOneThatWaitsForItsNextAttempt() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        postrider.store().reschedule(claim(postrider).get(0), Duration.ofDays(200), "later");
        advance(Duration.ofMinutes(30));

        assertThat(topicSample().oldest()).isBetween(Duration.ofMinutes(29), Duration.ofHours(3));
    }

    @Test
    void scheduledMessageIsNotOldBeforeItsTime() throws SQLException {
        Postrider postrider = postrider();
        enqueue(
                postrider,
                message().deliverAt(Instant.now().plus(Duration.ofDays(300))).build());

        assertThat(topicSample().oldest()).isZero();
    }

    @Test
    void messagesWithManyAttemptsAreCounted() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 2);
        Claim often = postrider.store().claim(request().limit(1)).get(0);
        for (int attempt = 1; attempt < Sample.ATTEMPTS; attempt++) {
            postrider.store().reschedule(often, Duration.ZERO, "no");
            often = claim(postrider).stream()
                    .filter(claim -> claim.attempt() > 1)
                    .findFirst()
                    .orElseThrow();
        }

        assertThat(topicSample().attempted()).isEqualTo(Count.exactly(1));
    }

    @Test
    void sampleCountsEveryStateOfAnOrderedTopic() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(
                topic,
                declared -> declared.ordered()
                        .lanes(4)
                        .onFailure(FailurePolicy.PARK)
                        .deliver(delivery -> {
                            throw new IllegalStateException("no");
                        })));
        for (int i = 0; i < 3; i++) {
            enqueue(postrider, message().key("a").build());
        }
        postrider.deliverDue();
        enqueue(postrider, message().key("b").build());
        enqueue(
                postrider,
                message()
                        .key("c")
                        .deliverAt(Instant.now().plus(Duration.ofDays(300)))
                        .build());

        TopicSample sample = topicSample();

        assertThat(sample.parked()).isEqualTo(Count.exactly(1));
        assertThat(sample.blocked()).isEqualTo(Count.exactly(2));
        assertThat(sample.waiting()).isEqualTo(Count.exactly(1));
        assertThat(sample.scheduled()).isEqualTo(Count.exactly(1));
        assertThat(sample.blockedKeys()).isEqualTo(Count.exactly(1));
        assertThat(sample.backlog()).isEqualTo(Count.exactly(5));
        assertThat(sample.oldest()).isPositive();
    }

    @Test
    void expiredLeaseOfALaneIsCounted() throws SQLException {
        postrider(builder -> builder.topic(topic, declared -> declared.ordered().lanes(4)));
        execute("UPDATE postrider_lane SET owner = 'lost' WHERE lane < 2 AND topic_id ="
                + " (SELECT id FROM postrider_topic WHERE topic = '" + topic + "')");

        assertThat(topicSample().expiredLeases()).isEqualTo(Count.exactly(2));
    }

    @Test
    void countOfALargeBacklogEndsAtItsLimitAlsoBesideManyTopics() throws SQLException {
        Postrider postrider = postrider(builder -> {
            for (int number = 0; number < 12; number++) {
                builder.topic(topic + "-" + number);
            }
            return builder.topic(topic);
        });
        enqueue(postrider, 10_001);

        assertThat(topicSample().waiting()).isEqualTo(new Count(10_001, false));
    }

    @Test
    void removedTopicIsInASampleOnlyWhileItHasMessages() throws SQLException {
        Postrider writer = postrider();
        enqueue(writer, 1);
        writer.store().acknowledge(claim(writer).get(0));
        assertThat(writer.admin().remove(topic, "ann")).isEqualTo(Repair.DONE);
        assertThat(sample().topics()).extracting(TopicSample::topic).doesNotContain(TopicName.of(topic));

        enqueue(writer, 1);

        assertThat(topicSample().waiting()).isEqualTo(Count.exactly(1));
        assertThat(topicSample().isStranded()).isTrue();
    }

    @Test
    void sampleCountsKeysMarksAndCommands() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, message().idempotencyKey("once").build());
        Message received = Message.received(topic, UUID.randomUUID().toString())
                .type("thing.happened")
                .json("{}")
                .build();
        postrider.inbox("consumer-" + topic).process(received, work -> {});
        Command<String> command = Command.named("op-" + topic)
                .caller("ann")
                .key("k")
                .fingerprint("f")
                .returningText();
        postrider.commands().run(command, tx -> "done");

        Sample sample = sample();

        assertThat(sample.idempotencyKeys().value()).isPositive();
        assertThat(sample.inboxMarks().value()).isPositive();
        Count completed = sample.commands().getOrDefault(StoredCommand.State.COMPLETED, Count.ZERO);
        assertThat(completed.value()).isPositive();
        assertThat(sample.stuckCommands().exact()).isTrue();
    }

    @Test
    void sampleIsTakenOncePerInterval() {
        postrider();
        Sample first = sample();

        assertThat(store().takeIfDue(INTERVAL, "node-2")).isFalse();

        SampleStore.Stored stored = store().read();
        assertThat(stored.due()).isFalse();
        assertThat(stored.sample()).contains(first);
        assertThat(first.node()).isEqualTo("node-1");
        assertThat(stored.schemaProblem()).isEmpty();
        assertThat(Duration.between(first.takenAt(), stored.databaseTime()).abs())
                .isLessThan(Duration.ofMinutes(1));
    }

    @Test
    void ofManyNodesOneIsElected() throws Exception {
        postrider();
        new DatabaseClock(dataSource()).advance(INTERVAL.multipliedBy(100));
        int nodes = 8;
        CyclicBarrier barrier = new CyclicBarrier(nodes);
        ExecutorService threads = Executors.newFixedThreadPool(nodes);
        try {
            List<Future<Boolean>> taken = new ArrayList<>();
            for (int i = 0; i < nodes; i++) {
                SampleStore store = store();
                String name = "node-" + i;
                taken.add(threads.submit(() -> {
                    barrier.await();
                    return store.takeIfDue(INTERVAL, name);
                }));
            }
            int count = 0;
            for (Future<Boolean> one : taken) {
                count += one.get(60, TimeUnit.SECONDS) ? 1 : 0;
            }
            assertThat(count).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void nodeThatFindsTheRowLockedDoesNotWait() throws Exception {
        needsConcurrency();
        postrider();
        new DatabaseClock(dataSource()).advance(INTERVAL.multipliedBy(100));
        try (Connection other = transaction();
                Statement statement = other.createStatement()) {
            statement.executeQuery("SELECT due_at FROM postrider_sample FOR UPDATE");

            assertThat(store().takeIfDue(INTERVAL, "node-1")).isFalse();

            other.rollback();
        }
        assertThat(store().takeIfDue(INTERVAL, "node-1")).isTrue();
    }

    @Test
    void sampleOfANodeThatWasElectedAndDiedIsTakenInTheNextInterval() throws SQLException {
        postrider();
        Sample before = sample();
        execute("UPDATE postrider_sample SET node = 'a node that died'"); // its election, without its sample

        assertThat(store().takeIfDue(INTERVAL, "node-2")).isFalse();
        assertThat(store().read().sample()).contains(before);

        new DatabaseClock(dataSource()).advance(INTERVAL.multipliedBy(100));
        assertThat(store().takeIfDue(INTERVAL, "node-2")).isTrue();
        assertThat(store().read().sample().orElseThrow().node()).isEqualTo("node-2");
    }

    @Test
    void startedNodePublishesSamples() throws Exception {
        CountDownLatch published = new CountDownLatch(2);
        AtomicReference<Event.Sampled> last = new AtomicReference<>();
        Postrider postrider = postrider(builder -> builder.topic(topic, declared -> declared.deliver(delivery -> {}))
                .dispatch(options -> options.worker("node-of-" + topic))
                .sampleEvery(Duration.ofMillis(100))
                .listener(event -> {
                    if (event instanceof Event.Sampled sampled) {
                        last.set(sampled);
                        published.countDown();
                    }
                }));
        new DatabaseClock(dataSource()).advance(INTERVAL.multipliedBy(100));
        postrider.start();

        assertThat(published.await(60, TimeUnit.SECONDS)).isTrue();
        NodeLoad load = Objects.requireNonNull(last.get()).node();
        assertThat(load.node()).isEqualTo("node-of-" + topic);
        assertThat(load.topics())
                .singleElement()
                .satisfies(own -> assertThat(own.slots()).isPositive());
    }
}
