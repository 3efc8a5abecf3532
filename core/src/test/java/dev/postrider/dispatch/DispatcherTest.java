package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.Stores;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The dispatcher with its threads and clocks, on a store in memory. What needs a database is in the dispatching contract. */
final class DispatcherTest {

    private static final EventListener NO_LISTENER = event -> {};

    /** Threads of other tests in this process. */
    private final Set<Thread> others = ownThreads();

    private final FakeStore store = new FakeStore();
    private final FakeLanes lanes = new FakeLanes();
    private final Stores stores = new Stores(store, lanes, store, new FakeHandling());
    private final CompletableFuture<Dispatcher> opened = new CompletableFuture<>();

    @AfterEach
    void close() {
        if (opened.isDone()) {
            opened.join().close();
        }
    }

    @Test
    void listenerThatThrowsAnythingDisturbsNothing() throws Exception {
        store.enqueue("orders", 10);
        Dispatcher dispatcher = open(handler(delivery -> {}), event -> {
            throw new LinkageError("listener");
        });

        dispatcher.start();
        dispatcher.wake();

        eventually(() -> store.written.size() == 10);
    }

    @Test
    void stopFromAListenerDoesNotWaitForItself() throws Exception {
        store.enqueue("orders", 1);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(1);
        Dispatcher dispatcher = open(handler(delivery -> {}), event -> {
            if (event instanceof Event.Delivered) {
                asked.countDown();
                opened.join().stop();
                returned.countDown();
            }
        });

        dispatcher.start();
        dispatcher.wake();

        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(returned.await(4, TimeUnit.SECONDS))
                .as("sooner than it gives up waiting for its threads")
                .isTrue();
        assertEnds(dispatcher);
    }

    @Test
    void stopFromATransportDoesNotWaitForItself() throws Exception {
        store.enqueue("orders", 1);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch returned = new CountDownLatch(1);
        Dispatcher dispatcher = open(transport(delivery -> {
            asked.countDown();
            opened.join().stop();
            returned.countDown();
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        }));

        dispatcher.start();
        dispatcher.wake();

        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(returned.await(15, TimeUnit.SECONDS))
                .as("sooner than it gives up waiting for deliveries")
                .isTrue();
        assertEnds(dispatcher);
        assertThat(store.written).singleElement().isInstanceOf(Outcome.Delivered.class);
    }

    @Test
    void transportThatBlocksDelaysNoOtherTopic() throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Topic blocking = Topic.named("blocking")
                .deliver(new Stub(Duration.ofSeconds(20), delivery -> {
                    blocked.countDown();
                    await(released);
                    return CompletableFuture.completedFuture(DeliveryResult.delivered());
                }))
                .build();
        Dispatcher dispatcher = open(List.of(blocking, handler(delivery -> {})));
        store.enqueue("blocking", 10);
        dispatcher.start();
        dispatcher.wake();
        assertThat(blocked.await(60, TimeUnit.SECONDS)).isTrue();

        try {
            store.enqueue("orders", 10);
            dispatcher.wake();
            eventually(() -> store.written.size() == 10);
        } finally {
            released.countDown();
        }
        eventually(() -> store.written.size() == 20);
    }

    @Test
    void threadThatBringsAnAnswerDoesNotSendTheNextMessage() throws Exception {
        List<Thread> callers = new CopyOnWriteArrayList<>();
        List<CompletableFuture<DeliveryResult>> answers = new CopyOnWriteArrayList<>();
        Dispatcher dispatcher = open(Topic.named("orders")
                .ordered()
                .lanes(1)
                .deliver(new Stub(Duration.ofSeconds(20), delivery -> {
                    callers.add(Thread.currentThread());
                    CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
                    answers.add(answer);
                    return answer;
                }))
                .build());
        dispatcher.start();
        eventually(() -> !lanes.granted.isEmpty());
        Lane lane = lanes.granted.iterator().next();
        lanes.next = List.of(
                LaneRig.claim(lane, 1, LaneRig.message("a", 1), LaneClaim.Place.IN_ORDER, 1),
                LaneRig.claim(lane, 2, LaneRig.message("a", 2), LaneClaim.Place.IN_ORDER, 1));
        dispatcher.wake();
        eventually(() -> answers.size() == 1);

        answers.get(0).complete(DeliveryResult.delivered());

        eventually(() -> answers.size() == 2);
        assertThat(callers).doesNotContain(Thread.currentThread());
        answers.get(1).complete(DeliveryResult.delivered());
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void interruptedStopStillReleasesMessagesInFlight() throws Exception {
        store.enqueue("orders", 1);
        CountDownLatch entered = new CountDownLatch(1);
        Dispatcher dispatcher = open(transport(delivery -> {
            entered.countDown();
            return new CompletableFuture<>();
        }));
        dispatcher.start();
        dispatcher.wake();
        assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();

        Thread.currentThread().interrupt();
        dispatcher.stop();

        assertThat(Thread.interrupted()).as("the mark is kept").isTrue();
        assertThat(store.written).singleElement().isInstanceOf(Outcome.Released.class);
        eventually(() -> others.containsAll(ownThreads()));
    }

    @Test
    void secondStopWaitsForTheFirst() throws Exception {
        store.enqueue("orders", 1);
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        CountDownLatch entered = new CountDownLatch(1);
        Dispatcher dispatcher = open(transport(delivery -> {
            entered.countDown();
            return answer;
        }));
        dispatcher.start();
        dispatcher.wake();
        assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();

        CompletableFuture<Void> first = CompletableFuture.runAsync(dispatcher::stop);
        CompletableFuture<Boolean> second = CompletableFuture.supplyAsync(() -> {
            dispatcher.stop();
            return first.isDone() || store.written.size() == 1;
        });
        answer.complete(DeliveryResult.delivered());

        assertThat(second.get(60, TimeUnit.SECONDS)).isTrue();
        first.get(60, TimeUnit.SECONDS);
    }

    @Test
    void stopEndsWhileTheDatabaseIsDown() throws Exception {
        store.enqueue("orders", 1);
        store.onSettle = outcomes -> {
            throw FakeStore.unavailable();
        };
        Dispatcher dispatcher = open(handler(delivery -> {}), NO_LISTENER, Duration.ofMillis(100));
        dispatcher.start();
        dispatcher.wake();
        eventually(() -> !store.settles.isEmpty());

        assertEnds(dispatcher);

        assertThat(dispatcher.inFlight()).as("left to its lease").isEqualTo(1);
    }

    @Test
    void stopEndsWhileTheLaneKeeperWaitsForTheDatabase() throws Exception {
        CompletableFuture<Void> waits = new CompletableFuture<>();
        CompletableFuture<Void> answer = new CompletableFuture<>();
        lanes.onAnnounce = () -> {
            waits.complete(null);
            answer.join();
        };
        Dispatcher dispatcher = open(Topic.named("orders")
                .ordered()
                .deliver((DeliveryHandler) delivery -> {})
                .build());
        dispatcher.start();
        waits.get(60, TimeUnit.SECONDS);

        try {
            assertEnds(dispatcher);
            assertThat(lanes.left).as("its lanes run out").isEmpty();
        } finally {
            answer.complete(null);
        }
    }

    @Test
    void stopGivesBackIdleLanesWhileADeliveryIsUnderWay() throws Exception {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        CountDownLatch entered = new CountDownLatch(1);
        Dispatcher dispatcher = open(Topic.named("orders")
                .ordered()
                .lanes(2)
                .deliver(new Stub(Duration.ofSeconds(20), delivery -> {
                    entered.countDown();
                    return answer;
                }))
                .build());
        dispatcher.start();
        eventually(() -> lanes.granted.size() == 2);
        Lane busy = lanes.granted.iterator().next();
        lanes.next = List.of(LaneRig.claim(busy, 1, LaneRig.message("a", 1), LaneClaim.Place.IN_ORDER, 1));
        dispatcher.wake();
        await(entered);

        CompletableFuture<Void> stopped = CompletableFuture.runAsync(dispatcher::stop);

        eventually(() -> lanes.released.size() == 1);
        assertThat(lanes.released).doesNotContain(busy);
        assertThat(stopped).isNotDone();
        answer.complete(DeliveryResult.delivered());
        stopped.get(60, TimeUnit.SECONDS);
        assertThat(lanes.released).hasSize(2);
        assertThat(lanes.requests).hasSize(1);
    }

    @Test
    void pauseOfAnOrderedTopicReleasesUnsentMessages() throws Exception {
        List<CompletableFuture<DeliveryResult>> answers = new CopyOnWriteArrayList<>();
        Dispatcher dispatcher = open(Topic.named("orders")
                .ordered()
                .lanes(1)
                .maxInFlight(1)
                .deliver(new Stub(Duration.ofSeconds(20), delivery -> {
                    CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
                    answers.add(answer);
                    return answer;
                }))
                .build());
        dispatcher.start();
        eventually(() -> !lanes.granted.isEmpty());
        Lane lane = lanes.granted.iterator().next();
        lanes.next = List.of(
                LaneRig.claim(lane, 1, LaneRig.message("a", 1), LaneClaim.Place.IN_ORDER, 1),
                LaneRig.claim(lane, 2, LaneRig.message("a", 2), LaneClaim.Place.IN_ORDER, 1),
                LaneRig.claim(lane, 3, LaneRig.message("b", 3), LaneClaim.Place.IN_ORDER, 1));
        dispatcher.wake();
        eventually(() -> answers.size() == 1);

        lanes.paused = true;
        dispatcher.wake();

        eventually(() -> lanes.written.size() == 2);
        assertThat(lanes.written).allMatch(Outcome.Released.class::isInstance);
        answers.get(0).complete(DeliveryResult.delivered());
        eventually(() -> dispatcher.inFlight() == 0);
        assertThat(answers).hasSize(1);
    }

    @Test
    void stopBeginsNoDeliveryThatWaitsForACall() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Dispatcher dispatcher = open(transport(delivery -> {
            calls.incrementAndGet();
            entered.countDown();
            await(released);
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        }));
        store.enqueue("orders", 10);
        dispatcher.start();
        dispatcher.wake();
        await(entered);

        CompletableFuture<Void> stopped = CompletableFuture.runAsync(dispatcher::stop);

        try {
            eventually(() -> store.written.size() == 9);
            assertThat(store.written).allMatch(Outcome.Released.class::isInstance);
        } finally {
            released.countDown();
        }
        stopped.get(60, TimeUnit.SECONDS);
        assertThat(calls).hasValue(1);
        assertThat(store.written).hasSize(10).hasAtLeastOneElementOfType(Outcome.Delivered.class);
    }

    @Test
    void outageBurnsNoAttemptAndDeliversNothingTwice() throws Exception {
        store.enqueue("orders", 20);
        AtomicInteger outage = new AtomicInteger(3);
        store.onSettle = outcomes -> {
            if (outage.getAndDecrement() > 0) {
                throw FakeStore.unavailable();
            }
            return FakeStore.accept(outcomes);
        };
        AtomicInteger delivered = new AtomicInteger();
        Dispatcher dispatcher = open(handler(delivery -> delivered.incrementAndGet()));

        dispatcher.start();
        dispatcher.wake();

        eventually(() -> store.written.size() == 20);
        assertThat(delivered).hasValue(20);
        assertThat(store.written).allMatch(Outcome.Delivered.class::isInstance);
    }

    @Test
    void handlersThatIgnoreTheirInterruptionTakeALimitedNumberOfThreads() throws Exception {
        store.enqueue("orders", 3);
        CountDownLatch release = new CountDownLatch(1);
        Topic topic = Topic.named("orders")
                .deliver((DeliveryHandler) delivery -> {
                    while (release.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                })
                .handlerTimeout(Duration.ofMillis(20))
                .retry(RetryPolicy.constant(Duration.ofHours(1)))
                .build();
        DispatchOptions one = DispatchOptions.builder().maxInFlight(1).build();
        Dispatcher dispatcher = new Dispatcher(stores, List.of(topic), one, NO_LISTENER);
        opened.complete(dispatcher);
        dispatcher.start();
        dispatcher.wake();

        eventually(() -> store.written.size() == 3);
        release.countDown();

        assertThat(store.written)
                .extracting(outcome -> ((Outcome.Retry) outcome).error().replaceAll(":.*", ""))
                .containsExactly(
                        "The handler gave no answer within PT0.02S",
                        "The handler gave no answer within PT0.02S",
                        "java.util.concurrent.RejectedExecutionException");
    }

    @Test
    void deliverDueSurvivesAnOutageBetweenDeliveryAndAcknowledgement() {
        store.enqueue("orders", 5);
        AtomicInteger outage = new AtomicInteger(2);
        store.onSettle = outcomes -> {
            if (outage.getAndDecrement() > 0) {
                throw FakeStore.unavailable();
            }
            return FakeStore.accept(outcomes);
        };
        AtomicInteger delivered = new AtomicInteger();

        assertThat(open(handler(delivery -> delivered.incrementAndGet())).deliverDue())
                .isEqualTo(5);

        assertThat(delivered).hasValue(5);
    }

    @Test
    void deliverDueTellsItsCallerOfAStoreThatFails() {
        store.onClaim = request -> {
            throw FakeStore.refused();
        };

        assertThatThrownBy(open(handler(delivery -> {}))::deliverDue)
                .isInstanceOf(StoreException.class)
                .hasMessage("refused");
    }

    @Test
    void deliverDueCountsFailuresAndGoesOn() {
        store.enqueue("orders", 3);
        Dispatcher dispatcher = open(handler(delivery -> {
            throw new AssertionError("handler");
        }));

        assertThat(dispatcher.deliverDue()).isEqualTo(3);
        assertThat(store.written).hasSize(3).allMatch(Outcome.Retry.class::isInstance);
    }

    @Test
    void interruptedDeliverDueEndsAfterWhatItHolds() {
        store.enqueue("orders", 1000);
        Dispatcher dispatcher = open(handler(delivery -> Thread.currentThread().interrupt()));

        long attempts = dispatcher.deliverDue();

        assertThat(Thread.interrupted()).as("the mark is kept").isTrue();
        assertThat(attempts).as("one batch").isEqualTo(100);
        assertThat(store.written).hasSize(100);
    }

    @Test
    void deliverDueKeepsItsLeases() throws Exception {
        store.enqueue("orders", 1);
        CountDownLatch extended = new CountDownLatch(1);
        store.onExtend = (claims, lease) -> {
            extended.countDown();
            return FakeStore.settled(claims);
        };
        Topic topic = Topic.named("orders")
                .deliver((DeliveryHandler) delivery ->
                        assertThat(extended.await(60, TimeUnit.SECONDS)).isTrue())
                .build();
        DispatchOptions brief = DispatchOptions.builder()
                .lease(Duration.ofSeconds(6))
                .pollInterval(Duration.ofMillis(100))
                .build();

        new Dispatcher(stores, List.of(topic), brief, NO_LISTENER).deliverDue();

        assertThat(store.written).singleElement().isInstanceOf(Outcome.Delivered.class);
        eventually(() -> others.containsAll(ownThreads()));
    }

    /** A lane that is not renewed is taken over: another node delivers its messages while the handler still runs. */
    @Test
    void deliverDueRenewsItsLanes() {
        AtomicBoolean isRead = new AtomicBoolean();
        lanes.onRead = name -> {
            if (isRead.compareAndSet(false, true)) {
                Lane lane = lanes.granted.iterator().next();
                lanes.next = List.of(LaneRig.claim(lane, 1, LaneRig.message("a", 1), LaneClaim.Place.IN_ORDER, 1));
            }
        };
        Topic topic = Topic.named("orders")
                .ordered()
                .lanes(1)
                .deliver((DeliveryHandler) delivery -> eventually(() -> !lanes.renewals.isEmpty()))
                .build();
        DispatchOptions brief = DispatchOptions.builder()
                .lease(Duration.ofSeconds(3))
                .pollInterval(Duration.ofMillis(100))
                .build();

        new Dispatcher(stores, List.of(topic), brief, NO_LISTENER).deliverDue();

        assertThat(lanes.written).singleElement().isInstanceOf(Outcome.Delivered.class);
    }

    @Test
    void stopEndsARunningDeliverDue() throws Exception {
        store.enqueue("orders", 1000);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        Dispatcher dispatcher = open(handler(delivery -> {
            begun.countDown();
            assertThat(stopping.await(60, TimeUnit.SECONDS)).isTrue();
        }));
        CompletableFuture<Long> attempts = CompletableFuture.supplyAsync(dispatcher::deliverDue);
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        Thread stopper = new Thread(dispatcher::stop);
        stopper.start();
        eventually(() -> stopper.getState() == Thread.State.TIMED_WAITING); // for the running delivery
        stopping.countDown();

        assertThat(attempts.get(60, TimeUnit.SECONDS)).isLessThan(1000);
        stopper.join();
    }

    @Test
    void stopWaitsForTheClaimOfADeliverDueAndReleasesItsMessages() throws Exception {
        CountDownLatch claiming = new CountDownLatch(1);
        CountDownLatch claimed = new CountDownLatch(1);
        store.onClaim = request -> {
            claiming.countDown();
            await(claimed);
            return store.next("orders", 1, 5);
        };
        AtomicInteger handled = new AtomicInteger();
        Dispatcher dispatcher = open(handler(delivery -> handled.incrementAndGet()));
        CompletableFuture<Long> attempts = CompletableFuture.supplyAsync(dispatcher::deliverDue);
        await(claiming);

        Thread stopper = new Thread(dispatcher::stop);
        stopper.start();
        eventually(() -> stopper.getState() == Thread.State.TIMED_WAITING); // for the claim
        claimed.countDown();

        assertThat(attempts.get(30, TimeUnit.SECONDS)).isZero();
        assertThat(handled).hasValue(0);
        assertThat(store.written).hasSize(5).allMatch(Outcome.Released.class::isInstance);
        stopper.join();
    }

    @Test
    void stoppedDeliverDueClaimsForNoFurtherTopic() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        Topic first = Topic.named("first")
                .deliver((DeliveryHandler) delivery -> {
                    begun.countDown();
                    await(stopping);
                })
                .build();
        Dispatcher dispatcher = open(List.of(first, handler(delivery -> {})));
        store.enqueue("first", 3);
        store.enqueue("orders", 5);
        CompletableFuture<Long> attempts = CompletableFuture.supplyAsync(dispatcher::deliverDue);
        await(begun);

        Thread stopper = new Thread(dispatcher::stop);
        stopper.start();
        eventually(() -> stopper.getState() == Thread.State.TIMED_WAITING); // for the running delivery
        stopping.countDown();

        assertThat(attempts.get(60, TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(store.claims).extracting(ClaimRequest::topic).containsExactly(TopicName.of("first"));
        stopper.join();
    }

    /** The threads that write outcomes send the next messages of a lane. They must not wait for a handler. */
    @Test
    void deliverDueRunsTheHandlersOfAnOrderedTopicInTheCallingThread() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        DeliveryHandler handler = delivery -> threads.add(Thread.currentThread());
        List<Topic.Builder> topics = List.of(
                Topic.named("orders").process((message, work) -> threads.add(Thread.currentThread())),
                Topic.named("orders").deliver(handler));

        for (Topic.Builder topic : topics) {
            AtomicBoolean isRead = new AtomicBoolean();
            lanes.onRead = name -> {
                if (isRead.compareAndSet(false, true)) {
                    Lane lane = lanes.granted.iterator().next();
                    lanes.next = IntStream.range(0, 10)
                            .mapToObj(number -> ofItsOwnKey(lane, number))
                            .toList();
                }
            };
            assertThat(open(topic.lanes(1).maxInFlight(1).build()).deliverDue()).isEqualTo(10);
        }

        assertThat(threads).hasSize(20).containsOnly(Thread.currentThread());
    }

    /** One of five is a suspect, and one is delivered with nothing else in flight. */
    private static LaneClaim ofItsOwnKey(Lane lane, int number) {
        int crashes = number % 5 == 3 ? IsolatedDelivery.SUSPECT : number % 5 == 4 ? IsolatedDelivery.EXCLUSIVE : 0;
        Claim claim = new Claim(number + 1, LaneRig.message("key-" + number, number), 1, crashes, lane.lease());
        return new LaneClaim(claim, lane.number(), LaneClaim.Place.IN_ORDER);
    }

    @Test
    void commitWakesTheScanOfItsTopicOnly() throws Exception {
        Dispatcher dispatcher = new Dispatcher(
                stores,
                List.of(
                        handler(delivery -> {}),
                        Topic.named("audit")
                                .deliver((DeliveryHandler) delivery -> {})
                                .build()),
                DispatchOptions.builder().handOver(false).build(),
                NO_LISTENER);
        opened.complete(dispatcher);
        Message message = Message.to("audit").type("thing").text("x").build();
        assertThat(dispatcher.handOver().reserve(List.of(message))).isSameAs(HandOver.Reservation.NONE);
        dispatcher.start();
        eventually(() -> store.polls.get() > 0);

        assertThat(dispatcher.handOver().reserve(List.of(message))).isSameAs(HandOver.Reservation.NONE);
        dispatcher.handOver().committed(List.of(message));

        eventually(() -> !store.claims.isEmpty());
        dispatcher.stop();
        assertThat(store.claims).extracting(ClaimRequest::topic).containsOnly(TopicName.of("audit"));
    }

    @Test
    void noStatementIsSentForWhatIsHandedOverButItsOutcome() throws Exception {
        Dispatcher dispatcher = open(handler(delivery -> {}), NO_LISTENER);
        dispatcher.start();
        eventually(() -> store.polls.get() > 0);
        Message message = Message.to("orders").type("thing").text("x").build();

        HandOver.Reservation reservation = dispatcher.handOver().reserve(List.of(message));
        reservation.committed(List.of(new Claim(1, message, 1, 0, reservation.lease())));

        eventually(() -> store.written.size() == 1);
        dispatcher.stop();
        assertThat(store.claims).isEmpty();
        assertThat(store.settles).hasSize(1);
    }

    @Test
    void startNeedsADestination() {
        Dispatcher dispatcher = open(Topic.named("orders").build());

        assertThatThrownBy(dispatcher::start)
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("no destination on this node");
    }

    @Test
    void withoutTopicsItOnlyKeepsHouse() throws Exception {
        CountDownLatch swept = new CountDownLatch(1);
        store.onPurge = kind -> {
            if (kind.equals("commands")) {
                swept.countDown();
            }
            return 0;
        };
        DispatchOptions options = DispatchOptions.builder()
                .housekeepingInterval(Duration.ofMillis(100))
                .build();
        Dispatcher dispatcher = new Dispatcher(stores, List.of(), options, NO_LISTENER);

        dispatcher.start();

        assertThat(swept.await(60, TimeUnit.SECONDS)).isTrue();
        dispatcher.stop();
        assertThat(store.claims).isEmpty();
    }

    @Test
    void topicDeclaredTwiceIsRefused() {
        Topic topic = handler(delivery -> {});

        assertThatThrownBy(() -> new Dispatcher(
                        stores, List.of(topic, topic), DispatchOptions.builder().build(), NO_LISTENER))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("topic.orders ");
    }

    @Test
    void transportThatMayOutliveItsLeaseIsRefused() {
        for (Duration timeout : List.of(Duration.ofSeconds(27), Duration.ZERO, Duration.ofSeconds(-1))) {
            assertThatThrownBy(() -> open(new Stub(timeout, delivery -> new CompletableFuture<>()).topic()))
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageStartingWith("topic.orders.timeout ");
        }
    }

    private record Stub(Duration timeout, Function<Delivery, CompletionStage<DeliveryResult>> answer)
            implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            return answer.apply(delivery);
        }

        Topic topic() {
            return Topic.named("orders").deliver(this).build();
        }
    }

    private static Topic transport(Function<Delivery, CompletionStage<DeliveryResult>> answer) {
        return new Stub(Duration.ofSeconds(20), answer).topic();
    }

    private static Topic handler(DeliveryHandler handler) {
        return Topic.named("orders").deliver(handler).build();
    }

    private Dispatcher open(Topic topic) {
        return open(topic, NO_LISTENER);
    }

    private Dispatcher open(Topic topic, EventListener listener) {
        return open(topic, listener, Duration.ofSeconds(20));
    }

    private Dispatcher open(Topic topic, EventListener listener, Duration drain) {
        return open(List.of(topic), listener, drain);
    }

    private Dispatcher open(List<Topic> topics) {
        return open(topics, NO_LISTENER, Duration.ofSeconds(20));
    }

    private Dispatcher open(List<Topic> topics, EventListener listener, Duration drain) {
        DispatchOptions options = DispatchOptions.builder().drainTimeout(drain).build();
        Dispatcher dispatcher = new Dispatcher(stores, topics, options, listener);
        opened.complete(dispatcher);
        return dispatcher;
    }

    private static void assertEnds(Dispatcher dispatcher) throws Exception {
        CompletableFuture.runAsync(dispatcher::stop).get(30, TimeUnit.SECONDS);
    }

    /** The threads of dispatchers, but for handlers. */
    private static Set<Thread> ownThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("postrider-"))
                .filter(thread -> !thread.getName().contains("handler"))
                .collect(Collectors.toSet());
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            assertThat(breath.await(5, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
