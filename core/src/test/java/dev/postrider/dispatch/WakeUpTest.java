package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.EventListener;
import dev.postrider.internal.store.HandOver.Reservation;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.Stores;
import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Free slots and free keys wake the thread that waits for them. Polls are rare here, and an idle writer wakes once a minute only: without a
 * wake-up each of these tests would take longer than its limit.
 */
final class WakeUpTest {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    private final FakeStore store = new FakeStore();
    private final FakeLanes lanes = new FakeLanes();
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final Map<String, CompletableFuture<DeliveryResult>> answers = new ConcurrentHashMap<>();
    private final List<Dispatcher> opened = new ArrayList<>();
    private volatile EventListener listener = event -> {};
    private long seq;

    @AfterEach
    void close() {
        answers.values().forEach(answer -> answer.complete(DeliveryResult.delivered()));
        opened.forEach(Dispatcher::close);
    }

    @Test
    void rolledBackHandOverWakesALane() throws Exception {
        Dispatcher dispatcher = start(4, ordered(), rows());
        Lane lane = lane();
        Reservation reservation = dispatcher.handOver().reserve(messages(3));
        assertThat(reservation.messages())
                .as("its own slot and the common ones")
                .hasSize(3);
        lanes.next = List.of(inLane(lane, "a"), inLane(lane, "b"));
        dispatcher.wake();
        eventually(() -> sent.size() == 1);
        eventually(() -> dispatcher.inFlight() == 2);

        reservation.abandoned();

        eventually(() -> sent.size() == 2);
    }

    /** The call of the listener wakes the lanes, as the test above shows. */
    @Test
    void slotThatAnEmptyClaimGivesBackIsReportedIfItWasWaitedFor() {
        AtomicInteger told = new AtomicInteger();
        Topic rows = rows();
        Topic lane = ordered();
        InFlight inFlight = new InFlight(new SharedBudget(4, 2), new SharedBudget(1000, 2), any -> 100);
        inFlight.onFreed(told::incrementAndGet);

        InFlight.Reserved first = inFlight.reserveForClaim(rows, 3);
        inFlight.giveBack(first);
        assertThat(told).as("no topic waits").hasValue(0);

        InFlight.Reserved second = inFlight.reserveForClaim(rows, 3);
        InFlight.Reserved own = inFlight.reserveForClaim(lane, 3);
        assertThat(own.slots()).isEqualTo(1);
        assertThat(inFlight.freeSlots(lane)).isZero();
        inFlight.giveBack(second);
        assertThat(told).hasValue(1);
    }

    private static boolean isIdle(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().endsWith(name))
                .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void endOfAnIsolatedDeliveryWakesTheClaimLoop() throws Exception {
        Dispatcher dispatcher = start(4, ordered(), rows());
        Lane lane = lane();
        LaneClaim plain = inLane(lane, "suspect");
        Claim claim = plain.claim();
        lanes.next = List.of(new LaneClaim(
                new Claim(claim.seq(), claim.message(), 1, IsolatedDelivery.EXCLUSIVE, claim.lease()),
                0,
                plain.place()));
        dispatcher.wake();
        eventually(() -> sent.equals(List.of("suspect")));
        store.enqueue("rows", 1);
        dispatcher.wake();
        // The outcome is written and has woken every thread that waits; the slots are still closed.
        lanes.onEndAlone = () -> {
            try {
                eventually(() -> isIdle("settle-lanes-1"));
                assertThat(new CountDownLatch(1).await(300, TimeUnit.MILLISECONDS))
                        .as("long enough for the claim loop to find no slot")
                        .isFalse();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        };

        Objects.requireNonNull(answers.remove("suspect")).complete(DeliveryResult.delivered());

        eventually(() -> sent.contains("payload"));
    }

    @Test
    void endOfARestWakesALane() throws Exception {
        CountDownLatch reading = new CountDownLatch(1);
        CountDownLatch read = new CountDownLatch(1);
        Dispatcher dispatcher = start(
                4,
                Topic.named("lane")
                        .ordered()
                        .lanes(1)
                        .breakerFailures(1)
                        .deliver(new Answering())
                        .build());
        Lane lane = lane();
        lanes.next = List.of(inLane(lane, "a"));
        dispatcher.wake();
        eventually(() -> sent.equals(List.of("a")));
        lanes.onRead = topic -> {
            reading.countDown();
            await(read);
        };
        dispatcher.wake();
        await(reading);
        lanes.next = List.of(inLane(lane, "b"));

        Objects.requireNonNull(answers.remove("a")).complete(DeliveryResult.failed("down"));
        eventually(() -> lanes.written.stream().anyMatch(Outcome.Retry.class::isInstance));
        read.countDown();

        eventually(() -> sent.contains("b"));
    }

    private Dispatcher start(int slots, Topic... topics) {
        Stores stores = new Stores(store, lanes, store, new FakeHandling());
        DispatchOptions options = DispatchOptions.builder()
                .lease(Duration.ofHours(1))
                .pollInterval(Duration.ofMinutes(10))
                .maxInFlight(slots)
                .build();
        Dispatcher dispatcher = new Dispatcher(stores, List.of(topics), options, event -> listener.on(event));
        opened.add(dispatcher);
        dispatcher.start();
        return dispatcher;
    }

    private Topic ordered() {
        return Topic.named("lane").ordered().lanes(1).deliver(new Answering()).build();
    }

    private Topic rows() {
        return Topic.named("rows").deliver(new Answering()).build();
    }

    /** When this node has a lane, it polls once more after a second. */
    private Lane lane() throws Exception {
        eventually(() -> !lanes.granted.isEmpty());
        eventually(() -> Math.max(store.polls.get(), lanes.compared.size()) >= 2);
        return lanes.granted.iterator().next();
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(Message.to("rows").type("thing").text("handed over").build());
        }
        return messages;
    }

    /** A message whose key is its text. */
    private LaneClaim inLane(Lane lane, String key) {
        Message message = Message.to("lane").type("thing").key(key).text(key).build();
        return new LaneClaim(new Claim(++seq, message, 1, 0, lane.lease()), lane.number(), LaneClaim.Place.IN_ORDER);
    }

    /** Answers when the test does. */
    private final class Answering implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            String text = delivery.message().payload().asText();
            CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
            answers.put(text, answer);
            sent.add(text);
            return answer;
        }

        @Override
        public Duration timeout() {
            return Duration.ofMinutes(30);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            assertThat(breath.await(5, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
