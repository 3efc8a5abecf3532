package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.PostriderException;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.testkit.CommitHooks;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of the local hand-over: when a node delivers a staged message without a claim, and when not. No message is lost or
 * delivered twice. Polls are rare in these tests, so a message that is delivered soon was not found by a poll.
 */
public abstract class HandOverContract extends DatabaseContract {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration BEFORE_A_POLL = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

    /** The timeout of a transport, long enough for a test that delays the result. */
    private static final Duration LATE_ENOUGH = Duration.ofSeconds(25);

    private final List<Node> nodes = new ArrayList<>();

    /** A node with hooks at the commits of its business transactions. The test sets the results of its deliveries. */
    private final class Node implements Transport, AutoCloseable {

        final CommitHooks commits = new CommitHooks(dataSource());
        final Queue<Event> events = new ConcurrentLinkedQueue<>();
        final List<Delivery> deliveries = new CopyOnWriteArrayList<>();
        final List<Thread> threads = new CopyOnWriteArrayList<>();
        final Postrider postrider;
        private final Duration timeout;
        volatile Function<Delivery, CompletionStage<DeliveryResult>> answer =
                delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());

        Node(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options, Duration timeout) {
            this.timeout = timeout;
            postrider = Postrider.on(commits)
                    .dispatchOn(dataSource())
                    .tables(tables -> tables.commitWithInsert(false)) // the hooks need a commit of its own
                    .topic(topic, declared -> declaration.accept(declared.deliver(this)))
                    .dispatch(dispatch -> options.accept(dispatch.pollInterval(Duration.ofSeconds(10))))
                    .listener(events::add)
                    .build();
            nodes.add(this);
            postrider.migrate();
        }

        Node started() {
            postrider.start();
            return this;
        }

        void stage(Message message) {
            postrider.inTransaction(work -> work.stage(message));
        }

        <E extends Event> List<E> events(Class<E> type) {
            return events.stream().filter(type::isInstance).map(type::cast).toList();
        }

        /** From now on, deliveries have no result until the test completes the returned future. */
        CompletableFuture<DeliveryResult> hush() {
            CompletableFuture<DeliveryResult> later = new CompletableFuture<>();
            answer = delivery -> later;
            return later;
        }

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            deliveries.add(delivery);
            threads.add(Thread.currentThread());
            return answer.apply(delivery);
        }

        @Override
        public Duration timeout() {
            return timeout;
        }

        @Override
        public void close() {
            postrider.close();
        }
    }

    @AfterEach
    void closeNodes() {
        nodes.forEach(Node::close);
    }

    @Test
    void stagedMessageIsDeliveredWithoutAClaim() throws Exception {
        Node node = node().started();

        node.stage(message().build());

        eventually("it is delivered", () -> live() == 0);
        assertThat(node.deliveries).extracting(Delivery::attempt).containsExactly(1);
        assertThat(node.events(Event.HandedOver.class)).containsExactly(new Event.HandedOver(topicName(), 1));
        assertThat(node.events(Event.Fetched.class)).isEmpty();
        assertThat(query("SELECT attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("1");
        assertThat(node.threads).as("never in the thread that commits").doesNotContain(Thread.currentThread());
    }

    @Test
    void rowIsLeasedToThisNodeAndNoAttemptIsCountedYet() throws Exception {
        Node node = node(topic -> {}, options -> options.worker("the-writer")).started();
        CompletableFuture<DeliveryResult> answer = node.hush();

        node.stage(message().build());

        assertThat(column("state")).isEqualTo("PROCESSING");
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(column("locked_by")).isEqualTo("the-writer");
        assertThat(node.postrider.store().claim(request()))
                .as("no other claim gets it")
                .isEmpty();
        answer.complete(DeliveryResult.delivered());
        eventually("it is delivered", () -> live() == 0);
    }

    @Test
    void failureAndRejectionCountTheAttempt() throws Exception {
        Node node = node(topic -> topic.retry(RetryPolicy.constant(Duration.ofHours(1))))
                .started();
        node.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.failed("busy"));
        node.stage(message().build());
        eventually("the failure is written", () -> column("state").equals("PENDING"));
        assertThat(column("attempts")).isEqualTo("1");
        assertThat(column("last_error")).isEqualTo("busy");

        execute("DELETE FROM postrider_message WHERE topic = '" + topic + "'");
        node.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.rejected("gone"));
        node.stage(message().build());
        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(column("attempts")).isEqualTo("1");
    }

    @Test
    void retriesGoOnFromTheFirstAttempt() throws Exception {
        Node node = node(topic ->
                        topic.retry(RetryPolicy.constant(Duration.ZERO)).maxAttempts(3))
                .started();
        node.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.failed("busy"));

        node.stage(message().build());

        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(column("attempts")).isEqualTo("3");
        assertThat(node.deliveries).extracting(Delivery::attempt).containsExactly(1, 2, 3);
    }

    @Test
    void allMessagesOfAUnitOfWorkAreTakenOverTogether() throws Exception {
        Node node = node().started();
        Message twice = message().build();

        node.postrider.inTransaction(work -> {
            for (int i = 0; i < 40; i++) {
                work.stage(message().json("{\"n\":" + i + "}").build());
            }
            work.stage(List.of(twice, twice));
        });

        eventually("all are delivered", () -> live() == 0);
        assertThat(node.deliveries)
                .hasSize(41)
                .extracting(delivery -> delivery.message().id())
                .doesNotHaveDuplicates();
        assertThat(node.events(Event.Fetched.class)).isEmpty();
        assertThat(archived()).isEqualTo(41);
    }

    @Test
    void rolledBackTransactionDeliversNothingAndFreesItsSlot() throws Exception {
        Node node = node(topic -> topic.maxInFlight(1)).started();
        node.commits.beforeCommit(() -> {
            throw new SQLException("the commit was refused", "40001");
        });
        assertThatThrownBy(() -> node.stage(message().build())).isInstanceOf(PostriderException.class);
        node.commits.clear();

        node.stage(message().type("second").build());

        eventually("the second is delivered", () -> archived() == 1);
        assertThat(node.deliveries)
                .extracting(delivery -> delivery.message().type())
                .containsExactly("second");
        assertThat(node.events(Event.HandedOver.class)).hasSize(1);
        assertThat(live()).isZero();
    }

    @Test
    void whatFindsNoSlotIsClaimedWhenOneIsFree() throws Exception {
        Node node = node(topic -> topic.maxInFlight(1)).started();
        CompletableFuture<DeliveryResult> first = node.hush();
        node.stage(message().type("first").build());
        eventually("the first is under way", () -> node.deliveries.size() == 1);

        node.stage(message().type("second").build());
        assertThat(column("COUNT(*)")).isEqualTo("2");
        assertThat(query("SELECT state FROM postrider_message WHERE type = 'second' AND topic = '" + topic + "'"))
                .isEqualTo("PENDING");
        assertThat(node.deliveries).hasSize(1);

        first.complete(DeliveryResult.delivered());
        eventually("both are delivered", () -> live() == 0);
        assertThat(node.deliveries).hasSize(2);
        assertThat(node.events(Event.Fetched.class)).hasSize(1);
    }

    @Test
    void messageWithoutRoomForItsBytesIsClaimed() throws Exception {
        Node node = node(topic -> {}, options -> options.maxInFlightBytes(100)).started();

        node.stage(message().json("{\"a\":\"" + "x".repeat(200) + "\"}").build());

        eventually("it is delivered", () -> live() == 0);
        assertThat(node.events(Event.HandedOver.class)).isEmpty();
    }

    @Test
    void stoppingBetweenInsertAndCommitGivesTheMessageBack() throws Exception {
        Node node = node().started();
        node.commits.beforeCommit(node.postrider::stop);

        node.stage(message().build());

        eventually("it is released", () -> column("state").equals("PENDING"));
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(node.deliveries).isEmpty();
        Node other = node().started();
        eventually("another node delivers it at once", () -> live() == 0);
        assertThat(other.deliveries).extracting(Delivery::attempt).containsExactly(1);
    }

    @Test
    void commitThatIsSlowerThanTheLeaseHandsNothingOver() throws Exception {
        Node slow = hasty(topic -> {}, SHORT_LEASE).started();
        Node other = hasty(topic -> {}, SHORT_LEASE).started();
        AtomicReference<String> lease = new AtomicReference<>();
        slow.commits.beforeCommit(() -> {
            long inserted = System.nanoTime();
            eventually(
                    "the lease is over",
                    () -> System.nanoTime() - inserted
                            > SHORT_LEASE.plusMillis(100).toNanos());
            lease.set("over");
        });

        slow.stage(message().build());

        assertThat(lease).hasValue("over");
        eventually("it is delivered", () -> live() == 0);
        assertThat(slow.events(Event.HandedOver.class))
                .as("the hand-over came too late")
                .hasSizeLessThanOrEqualTo(1);
        assertThat(slow.deliveries.size() + other.deliveries.size()).isEqualTo(1);
        assertThat(archived()).isEqualTo(1);
    }

    @Test
    void slotOfATransactionThatNeverEndsIsFreeWhenItsLeaseIsOver() throws Exception {
        needsConcurrency();
        Node node = hasty(topic -> topic.maxInFlight(1), SHORT_LEASE).started();
        CountDownLatch written = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        node.commits.beforeCommit(() -> {
            written.countDown();
            await(end);
        });
        Thread stuck = new Thread(() -> node.stage(message().type("stuck").build()));
        stuck.start();
        await(written);
        node.commits.clear();

        node.stage(message().type("second").build());
        eventually("a claim finds the slot free", () -> archived() == 1);
        eventually("and so does a message, when nothing waits before it", () -> {
            node.stage(message().type("third").build());
            eventually("it is delivered", () -> live() == 0);
            return !node.events(Event.HandedOver.class).isEmpty();
        });
        end.countDown();
        stuck.join(SOON.toMillis());
        eventually("the stuck one is delivered too, once", () -> live() == 0);
        assertThat(node.deliveries)
                .filteredOn(delivery -> delivery.message().type().equals("stuck"))
                .hasSize(1);
    }

    @Test
    void commitWithoutAnAnswerHandsNothingOver() throws Exception {
        Node node = hasty(topic -> topic.maxInFlight(1), Duration.ofSeconds(6)).started();
        node.commits.afterCommit(() -> {
            throw new SQLException("the answer was lost", "08006");
        });

        assertThatThrownBy(() -> node.stage(message().build())).isInstanceOf(PostriderException.class);

        node.commits.clear();
        assertThat(node.deliveries).isEmpty();
        assertThat(column("state")).isEqualTo("PROCESSING");
        eventually("it is delivered when its lease is over", () -> live() == 0);
        assertThat(node.deliveries).extracting(Delivery::attempt).containsExactly(1);
        assertThat(query("SELECT crashes FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("1");
    }

    @Test
    void nothingOfAPausedTopicIsTakenOver() throws Exception {
        Node node = node().started();
        node.postrider.admin().pause(topic, "operator");

        node.stage(message().build());
        node.postrider.inTransaction(work -> {
            work.stage(message().build());
            work.stage(message().idempotencyKey("k").build());
        });

        assertThat(column("MAX(state)")).isEqualTo("PENDING");
        assertThat(column("MIN(state)")).isEqualTo("PENDING");
        node.postrider.admin().resume(topic, "operator");
        node.postrider.wake();
        eventually("they are delivered when it goes on", () -> live() == 0);
        assertThat(node.events(Event.HandedOver.class)).isEmpty();
        assertThat(node.deliveries).hasSize(3);
    }

    @Test
    void duplicateIsNotTakenOverAndKeepsNoSlot() throws Exception {
        Node node = node(topic -> topic.maxInFlight(2)).started();

        node.stage(message().idempotencyKey("once").type("first").build());
        eventually(
                "the first is delivered, and its slot free",
                () -> node.events(Event.Delivered.class).size() == 1);
        node.stage(message().idempotencyKey("once").type("again").build());
        node.postrider.inTransaction(work -> {
            work.stage(message().idempotencyKey("once").type("again").build());
            work.stage(message().idempotencyKey("twice").type("second").build());
        });
        eventually(
                "the second is delivered",
                () -> node.events(Event.Delivered.class).size() == 2);
        node.postrider.inTransaction(work -> {
            work.stage(message().type("third").build());
            work.stage(message().type("fourth").build());
        });

        eventually("slots are free for both", () -> archived() == 4);
        assertThat(node.deliveries)
                .extracting(delivery -> delivery.message().type())
                .containsExactlyInAnyOrder("first", "second", "third", "fourth");
        assertThat(node.events(Event.Fetched.class)).isEmpty();
    }

    @Test
    void onlyMessagesOfTheTopicsTenantsAreTakenOver() throws Exception {
        Node node = node(topic -> topic.tenants(Set.of("a"))).started();

        node.postrider.inTransaction(work -> {
            work.stage(message().tenant("a").build());
            work.stage(message().tenant("b").build());
            work.stage(message().build());
        });

        eventually("the tenant's own is delivered", () -> archived() == 1);
        assertThat(node.deliveries)
                .extracting(delivery -> delivery.message().tenant())
                .containsExactly("a");
        assertThat(column("MIN(state)")).isEqualTo("PENDING");
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void messageThatIsDueLaterWaitsInTheQueue() throws Exception {
        Node node = node().started();

        node.stage(message().deliverAt(Instant.now().plusSeconds(3600)).build());

        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(node.deliveries).isEmpty();
    }

    @Test
    void messageThatIsDueSoonIsDeliveredThenAndNotAtTheNextPoll() throws Exception {
        Node node = node(topic -> {}, this::slowPolling).started();
        node.stage(message().build());
        eventually("the node is at work", () -> archived() == 1);
        long staged = System.nanoTime();

        node.stage(message().deliverAt(Instant.now().plusMillis(500)).build());

        eventually("it is delivered", () -> archived() == 2);
        assertThat(Duration.ofNanos(System.nanoTime() - staged)).isLessThan(BEFORE_A_POLL);
    }

    @Test
    void handOverCanBeSwitchedOff() throws Exception {
        Node node = node(topic -> {}, options -> options.handOver(false)).started();

        node.stage(message().build());

        eventually("it is delivered", () -> live() == 0);
        assertThat(node.events(Event.HandedOver.class)).isEmpty();
        assertThat(node.events(Event.Fetched.class)).hasSize(1);
    }

    @Test
    void nodeThatIsNotStartedLeavesItsMessagesToOthers() throws Exception {
        Node writer = node();

        writer.stage(message().build());

        assertThat(column("state")).isEqualTo("PENDING");
        node().started();
        eventually("another delivers it", () -> live() == 0);
    }

    @Test
    void pollBetweenEnqueueAndCommitDoesNotDelayTheMessage() throws Exception {
        Node node = node(topic -> {}, options -> slowPolling(options.handOver(false)))
                .started();
        node.stage(message().build());
        eventually("the node is at work", () -> archived() == 1);
        AtomicInteger looks = new AtomicInteger();
        node.commits.beforeCommit(() -> {
            // A dispatcher that is woken before the commit does the same: it finds no message.
            assertThat(node.postrider.store().claim(request())).isEmpty();
            node.postrider.wake();
            looks.incrementAndGet();
        });
        long begun = System.nanoTime();

        node.postrider.inTransaction(work -> work.outbox().enqueue(message().build()));

        eventually("it is delivered", () -> archived() == 2);
        assertThat(Duration.ofNanos(System.nanoTime() - begun))
                .as("without waiting for a poll")
                .isLessThan(BEFORE_A_POLL);
        assertThat(looks).hasValue(1);
    }

    @Test
    void everythingIsDeliveredOnceWhileManyWriteOnTwoNodes() throws Exception {
        needsConcurrency();
        List<Node> pair = List.of(
                node(topic -> topic.maxInFlight(5)).started(),
                node(topic -> topic.maxInFlight(5)).started());
        List<Thread> writers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Node node = pair.get(i % 2);
            Thread writer = new Thread(() -> {
                for (int n = 0; n < 50; n++) {
                    node.postrider.inTransaction(work ->
                            work.stage(List.of(message().build(), message().build())));
                }
            });
            writers.add(writer);
            writer.start();
        }
        for (Thread writer : writers) {
            writer.join();
        }

        eventually("all are delivered", () -> live() == 0);
        List<Delivery> deliveries = new ArrayList<>(pair.get(0).deliveries);
        deliveries.addAll(pair.get(1).deliveries);
        assertThat(deliveries)
                .hasSize(600)
                .extracting(delivery -> delivery.message().id())
                .doesNotHaveDuplicates();
        assertThat(archived()).isEqualTo(600);
        assertThat(pair)
                .allSatisfy(
                        node -> assertThat(node.events(Event.HandedOver.class)).isNotEmpty());
    }

    /** The transaction began before the first row of the message was deleted. At REPEATABLE READ its snapshot has that row. */
    @Test
    void messageThatIsStagedAgainWhileItsFirstRowIsDeletedIsDeliveredTwice() throws Exception {
        Node node = node(topic -> {}, this::slowPolling).started();
        CompletableFuture<DeliveryResult> later = new CompletableFuture<>();
        Message again = message().type("again").build();
        node.answer = delivery -> delivery.message().id().equals(again.id())
                ? later
                : CompletableFuture.completedFuture(DeliveryResult.delivered());
        node.stage(again);

        node.postrider.inTransaction(work -> {
            try (Statement snapshot = work.connection().createStatement();
                    ResultSet row = snapshot.executeQuery("SELECT COUNT(*) FROM postrider_topic")) {
                assertThat(row.next()).isTrue();
            }
            later.complete(DeliveryResult.delivered());
            eventually("the first row is deleted", () -> live() == 0);
            work.stage(List.of(again, message().build()));
        });

        eventually("all are delivered", () -> live() == 0);
        assertThat(node.deliveries)
                .filteredOn(delivery -> delivery.message().id().equals(again.id()))
                .hasSize(2);
        assertThat(archived()).isEqualTo(3);
    }

    private TopicName topicName() {
        return TopicName.of(topic);
    }

    private Node node() {
        return node(topic -> {});
    }

    private Node node(Consumer<Topic.Builder> declaration) {
        return node(declaration, options -> {});
    }

    private Node node(Consumer<Topic.Builder> declaration, Consumer<DispatchOptions.Builder> options) {
        return new Node(declaration, options, LATE_ENOUGH);
    }

    /** Creates a node with short leases, which expire while a test waits. */
    private Node hasty(Consumer<Topic.Builder> declaration, Duration lease) {
        return new Node(
                declaration, options -> options.lease(lease).pollInterval(Duration.ofMillis(300)), lease.dividedBy(2));
    }

    private void slowPolling(DispatchOptions.Builder options) {
        options.lease(Duration.ofMinutes(3)).pollInterval(Duration.ofMinutes(1));
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** Checks the condition repeatedly, with a short pause, until it is true. Fails when the time is over. */
    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + SOON.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).as(what).isNegative();
            breath.await(5, TimeUnit.MILLISECONDS);
        }
    }
}
