package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Lease;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;

/** A sequencer with its pipeline and its writer, without threads: deliveries are answered, and outcomes written, by the test. */
final class LaneRig implements Transport {

    private static final int BATCH = 500;

    /** Once the breaker is armed. */
    static final int BREAKER_FAILURES = 3;

    static final Duration LEASE = Duration.ofSeconds(30);
    static final Duration LAST_START = Duration.ofSeconds(20);

    final ManualTime time = new ManualTime();
    final List<Event> events = new ArrayList<>();
    final List<LaneOutcome> written = new ArrayList<>();
    final List<Boolean> looks = new ArrayList<>();

    /** What was sent and has no answer yet, in the order of sending. */
    final Map<MessageId, CompletableFuture<DeliveryResult>> open = new LinkedHashMap<>();

    final List<Message> sent = new ArrayList<>();
    final Topic topic;
    final CircuitBreaker breaker;
    final InFlight inFlight;
    final OutcomeWriter<LaneOutcome> writer;
    final Sequencer sequencer;
    final DeliveryPipeline pipeline;
    final LeaseValidity.Limit leaseLimit;

    Function<List<LaneOutcome>, List<Settlement>> settle = outcomes -> outcomes.stream()
            .<Settlement>map(outcome -> new Settlement.Settled(outcome.claim()))
            .toList();

    private Predicate<LaneOutcome> intrudesAt = any -> false;
    private Thread intruder = new Thread();
    private long lastNumber;

    LaneRig() {
        this(100);
    }

    LaneRig(int slots) {
        this(slots, 1);
    }

    LaneRig(int slots, int lanes) {
        topic = Topic.named("orders")
                .ordered()
                .lanes(lanes)
                .blockAfterDeadLetter(false)
                .maxAttempts(1000)
                .retry(RetryPolicy.constant(Duration.ofSeconds(2)))
                .breakerFailures(BREAKER_FAILURES)
                .deliver(this)
                .build();
        breaker = new CircuitBreaker(topic, time, events::add, this::pause);
        inFlight = new InFlight(new SharedBudget(slots, 1), new SharedBudget(1_000_000, 1), any -> breaker.limit());
        writer = new OutcomeWriter<>(
                new OutcomeWriter.OutcomeSink<>(this::write, outcome -> outcome, inFlight::inLanes, BATCH),
                inFlight,
                time,
                events::add,
                this::settled);
        leaseLimit = new LeaseValidity.Limit(time, LAST_START);
        TopicDelivery delivery = new TransportDelivery(
                new TransportDelivery.Target(this, Runnable::run),
                breaker,
                new OutcomeDecider(() -> 0.5),
                this::decide,
                leaseLimit);
        pipeline = new DeliveryPipeline(Map.of(topic.name(), delivery), this::decide, leaseLimit);
        sequencer = new Sequencer(topic, inFlight, this::write, pipeline, leaseLimit);
    }

    private void pause(Topic topic, Duration pause) {
        sequencer.releaseUnsent();
    }

    private void settled(InFlightMessage claimed, LaneOutcome outcome, Settlement settlement) {
        looks.add(sequencer.settled(claimed, outcome, settlement));
    }

    private void decide(InFlightMessage claimed, Outcome outcome) {
        sequencer.decided(claimed, OutcomeDecider.inLane(topic, Objects.requireNonNull(claimed.inLane()), outcome));
    }

    private boolean write(InFlightMessage claimed, LaneOutcome outcome) {
        boolean taken = writer.add(claimed, outcome);
        if (intrudesAt.test(outcome)) {
            intrudesAt = any -> false;
            intruder.start();
            join(intruder, Duration.ofMillis(100)); // long enough for it to get as far as it is let
        }
        return taken;
    }

    /** In the moment when such an outcome has been taken to be written, another thread comes and does something. */
    Thread intrude(Class<? extends LaneOutcome> at, Runnable doing) {
        intruder = new Thread(doing, "intruder");
        intrudesAt = at::isInstance;
        return intruder;
    }

    static void join(Thread thread, Duration atMost) {
        try {
            thread.join(atMost.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private List<Settlement> write(List<LaneOutcome> outcomes) {
        written.addAll(outcomes);
        return settle.apply(outcomes);
    }

    /** A lane that this node holds from now on. */
    Lane take(OrderingKey... blockedKeys) {
        Lane lane =
                new Lane(TopicName.of("orders"), 0, new Lease(UUID.randomUUID(), "worker", LEASE), Set.of(blockedKeys));
        sequencer.add(lane, LeaseValidity.Stamp.now(time));
        return lane;
    }

    LaneClaim next(Lane lane, String key, LaneClaim.Place place) {
        return claim(lane, ++lastNumber, message(key, (int) lastNumber), place, 1);
    }

    LaneClaim next(Lane lane, String key) {
        return next(lane, key, LaneClaim.Place.IN_ORDER);
    }

    static Message message(String key, int number) {
        return Message.to("orders")
                .type("x")
                .key(key)
                .text(Integer.toString(number))
                .build();
    }

    static LaneClaim claim(Lane lane, long seq, Message message, LaneClaim.Place place, int attempt) {
        return new LaneClaim(new Claim(seq, message, attempt, 0, lane.lease()), lane.number(), place);
    }

    void offer(LaneClaim... claims) {
        offer(List.of(claims));
    }

    void offer(List<LaneClaim> claims) {
        sequencer.offer(claims, LeaseValidity.Stamp.now(time));
    }

    void answer(LaneClaim claim, DeliveryResult result) {
        Objects.requireNonNull(open.remove(claim.claim().message().id())).complete(result);
    }

    /** Another outcome than a transport can bring about. */
    void decide(LaneClaim claim, LaneOutcome outcome) {
        InFlightMessage claimed = inFlight.all().stream()
                .filter(each -> each.claim().equals(claim.claim()))
                .findFirst()
                .orElseThrow();
        sequencer.decided(claimed, outcome);
    }

    void deliver(LaneClaim claim) {
        answer(claim, DeliveryResult.delivered());
    }

    void fail(LaneClaim claim) {
        answer(claim, DeliveryResult.failed("busy"));
    }

    /** Writes what has been decided. */
    void write() {
        time.pass(Duration.ofMillis(10));
        writer.runOnce();
        sequencer.send();
    }

    /** The numbers of what was sent, in that order. */
    List<String> sent() {
        return sent.stream().map(message -> message.payload().asText()).toList();
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        sent.add(delivery.message());
        open.put(delivery.message().id(), answer);
        return answer;
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
