package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The parts of a dispatcher put together without threads, on a store in memory and clocks that stand still. */
final class Rig implements Transport {

    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration POLL = Duration.ofSeconds(5);

    /** Once a breaker is armed. */
    static final int BREAKER_FAILURES = 3;

    static final OutcomeWriter.Observer<Outcome> NO_OBSERVER = (claimed, outcome, settlement) -> {};

    final ManualTime time = new ManualTime();
    final FakeStore store = new FakeStore();
    final List<Event> events = new CopyOnWriteArrayList<>();
    final List<Delivery> sent = new CopyOnWriteArrayList<>();
    final List<Topic> topics = new ArrayList<>();
    final InFlight inFlight;
    private final Map<TopicName, CircuitBreaker> breakers = new HashMap<>();
    final OutcomeWriter<Outcome> writer;
    final DeliveryPipeline pipeline;
    final ScanSchedule scans;
    final ClaimLoop loop;

    /** Where the transport is called. */
    volatile Executor senders = Runnable::run;

    volatile Function<Delivery, CompletionStage<DeliveryResult>> answer =
            delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());

    Rig(String... names) {
        this(DispatchOptions.builder().build(), names);
    }

    Rig(DispatchOptions options, String... names) {
        for (String name : names) {
            Topic topic = Topic.named(name)
                    .deliver(this)
                    .retry(RetryPolicy.constant(Duration.ofSeconds(2)))
                    .breakerFailures(BREAKER_FAILURES)
                    .build();
            topics.add(topic);
        }
        topics.forEach(topic -> breakers.put(topic.name(), new CircuitBreaker(topic, time, events::add, this::pause)));
        inFlight = new InFlight(
                new SharedBudget(options.maxInFlight(), names.length),
                new SharedBudget(options.maxInFlightBytes(), names.length),
                topic -> breaker(topic).limit());
        writer = new OutcomeWriter<>(
                OutcomeWriter.OutcomeSink.ofRows(store, inFlight), inFlight, time, events::add, NO_OBSERVER);
        Map<TopicName, TopicDelivery> deliveries = new HashMap<>();
        LeaseValidity.Limit leaseLimit =
                new LeaseValidity.Limit(time, options.lease().minus(options.headroom()));
        topics.forEach(topic -> deliveries.put(
                topic.name(),
                new TransportDelivery(
                        new TransportDelivery.Target(this, task -> senders.execute(task)),
                        breaker(topic),
                        new OutcomeDecider(() -> 0.5),
                        writer::add,
                        leaseLimit)));
        pipeline = new DeliveryPipeline(deliveries, writer::add, leaseLimit);
        RowClaimer claimer = new RowClaimer(store, settings(options), inFlight, pipeline, time);
        Map<Topic, Claimer> claimers = new LinkedHashMap<>();
        topics.forEach(topic -> claimers.put(topic, claimer));
        scans = new ScanSchedule(topics, options.pollInterval(), time);
        loop = new ClaimLoop(scans, claimers, time, events::add);
    }

    NodeSettings settings(DispatchOptions options) {
        return new NodeSettings(topics, options, events::add);
    }

    Topic topic() {
        return topics.get(0);
    }

    CircuitBreaker breaker(Topic topic) {
        return Objects.requireNonNull(breakers.get(topic.name()));
    }

    private void pause(Topic topic, Duration pause) {
        scans.pause(topic.name(), pause);
    }

    /** From now on no delivery is answered. */
    void hush() {
        answer = delivery -> new CompletableFuture<>();
    }

    /** A claim of the first topic that this node holds from now on. */
    InFlightMessage hold() {
        return hold(store.next(topic().name().toString(), 1));
    }

    InFlightMessage hold(Claim claim) {
        InFlightMessage claimed = new InFlightMessage(topic(), claim, LeaseValidity.Stamp.now(time));
        inFlight.add(claimed);
        return claimed;
    }

    List<InFlightMessage> hold(int count) {
        List<InFlightMessage> claimed = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            claimed.add(hold());
        }
        return claimed;
    }

    <E extends Event> List<E> events(Class<E> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        sent.add(delivery);
        return answer.apply(delivery);
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
