package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Claims for the topics that may have work and have room for it, and hands the claims over. Looks again at once after a full
 * batch or a wake-up, and otherwise when something comes due; what other nodes wrote is noticed at the poll interval. One
 * thread runs it; wake-ups come from any.
 */
final class ClaimLoop {

    private static final int SWEEP_LIMIT = 1000;

    /** Rather than claim again for each slot that becomes free, wait this long for more. */
    private static final Duration GATHER = Duration.ofMillis(5);

    private static final long NEVER = Long.MAX_VALUE;

    /** One topic's place in the loop. */
    private static final class Turn {
        final Topic topic;

        /** When to look, by the monotonic clock; {@link #NEVER} until something says otherwise. */
        final AtomicLong lookAt = new AtomicLong(NEVER);

        long lastClaim;

        Turn(Topic topic) {
            this.topic = topic;
        }

        void lookAt(long nanos) {
            lookAt.accumulateAndGet(nanos, (a, b) -> a == NEVER || (b != NEVER && b - a < 0) ? b : a);
        }
    }

    private final MessageStore store;
    private final DispatchOptions options;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Time time;
    private final EventListener events;
    private final Map<TopicName, Turn> turns = new LinkedHashMap<>();
    private long nextPoll;

    ClaimLoop(
            MessageStore store,
            DispatchOptions options,
            List<Topic> topics,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            Time time,
            EventListener events) {
        this.store = store;
        this.options = options;
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.time = time;
        this.events = events;
        this.nextPoll = time.nanos();
        topics.forEach(topic -> turns.put(topic.name(), new Turn(topic)));
    }

    /** Something may be due in every topic. */
    void lookNow() {
        turns.values().forEach(turn -> turn.lookAt(time.nanos()));
    }

    /** Something will be due in this topic. */
    void lookAfter(TopicName topic, Duration delay) {
        Turn turn = turns.get(topic);
        if (turn != null) {
            turn.lookAt(time.nanos() + delay.toNanos());
        }
    }

    Duration runOnce() {
        if (time.nanos() - nextPoll >= 0) {
            poll();
        }
        long pause = nextPoll - time.nanos();
        for (Turn turn : turns.values()) {
            pause = Math.min(pause, claimIfDue(turn));
        }
        return Duration.ofNanos(Math.max(pause, 0));
    }

    /** One statement for all topics. */
    private void poll() {
        Map<TopicName, Duration> due = store.nextDue(turns.keySet());
        long now = time.nanos();
        due.forEach((topic, delay) -> lookAfter(topic, delay));
        nextPoll = now + options.pollInterval().toNanos();
    }

    /** Answers in how many nanoseconds this topic wants its next turn. */
    private long claimIfDue(Turn turn) {
        long due = turn.lookAt.get();
        if (due == NEVER) {
            return NEVER;
        }
        long wait = due - time.nanos();
        if (wait > 0) {
            return wait;
        }
        int room = Math.min(inFlight.freeSlots(turn.topic), options.batchSize());
        if (room <= 0 || inFlight.freeBytes() <= 0) {
            return NEVER; // woken when a slot becomes free
        }
        long sinceLast = time.nanos() - turn.lastClaim;
        if (room < Math.min(options.batchSize(), turn.topic.maxInFlight()) / 2 && sinceLast < GATHER.toNanos()) {
            return GATHER.toNanos() - sinceLast;
        }
        return claim(turn, room);
    }

    private long claim(Turn turn, int room) {
        turn.lookAt.set(NEVER); // before the statement: a wake-up that comes while it runs must not be lost
        Topic topic = turn.topic;
        long freeBytes = inFlight.freeBytes();
        Held.Stamp asked = Held.Stamp.now(time);
        List<Claim> claims;
        try {
            claims = store.claim(new ClaimRequest(
                    topic.name(),
                    options.worker(),
                    topic.tenants(),
                    room,
                    freeBytes,
                    options.lease(),
                    topic.maxAttempts()));
        } catch (RuntimeException e) {
            turn.lookAt(time.nanos());
            throw e;
        }
        turn.lastClaim = time.nanos();
        if (claims.isEmpty()) {
            sweep(topic);
            return NEVER;
        }
        events.on(new Event.Fetched(topic.name(), claims.size()));
        List<Held> held =
                claims.stream().map(claim -> new Held(topic, claim, asked)).toList();
        held.forEach(inFlight::add); // all of them before the first answer can come
        held.forEach(pipeline::deliver);
        long bytes = held.stream().mapToLong(Held::bytes).sum();
        if (claims.size() < room && bytes < freeBytes) {
            return NEVER;
        }
        turn.lookAt(time.nanos());
        return 0;
    }

    /** Something was due, but there was nothing to claim: perhaps a lease that ran out on its last attempt. */
    private void sweep(Topic topic) {
        int buried = store.sweep(topic.name(), topic.maxAttempts(), SWEEP_LIMIT);
        if (buried > 0) {
            events.on(new Event.Swept(topic.name(), buried));
        }
    }
}
