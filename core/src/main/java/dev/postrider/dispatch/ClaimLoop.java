package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Claims for the topics that may have work and have room for it, and hands the claims over. Looks again at once after a full
 * batch or a wake-up, and otherwise when something comes due; what other nodes wrote is noticed at the poll interval. One
 * thread runs it; wake-ups come from any.
 */
final class ClaimLoop {

    private static final int SWEEP_LIMIT = 1000;

    /** Rather than claim again for each slot that becomes free, wait this long for more. */
    private static final Duration GATHER = Duration.ofMillis(5);

    /** Where something came due there is often more to come: ask when, this soon. */
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final MessageStore store;
    private final DispatchOptions options;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Time time;
    private final EventListener events;
    private final Map<TopicName, Turn> turns = new LinkedHashMap<>();
    private final List<Turn> order;
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
        topics.forEach(topic -> turns.put(topic.name(), new Turn(topic, time.nanos())));
        this.order = new ArrayList<>(turns.values());
    }

    /** Something may be due in every topic. */
    void lookNow() {
        turns.values().forEach(Turn::want);
    }

    /** Something will be due in this topic. What is due after the next poll is left to that. */
    void lookAfter(TopicName topic, Duration delay) {
        Turn turn = turns.get(topic);
        if (turn != null && delay.compareTo(options.pollInterval()) <= 0) {
            turn.dueAt(time.nanos() + delay.toNanos());
        }
    }

    Duration runOnce() {
        if (time.nanos() - nextPoll >= 0) {
            poll();
        }
        long pause = Turn.NEVER;
        Collections.rotate(order, -1); // when slots are short the first takes them: let each be the first
        for (Turn turn : order) {
            pause = Math.min(pause, take(turn));
        }
        return Duration.ofNanos(Math.max(Math.min(pause, nextPoll - time.nanos()), 0));
    }

    /** Claims for every topic, whatever is known of it. A failure reaches the caller. */
    void claimEach() {
        for (Turn turn : order) {
            turn.dueAt(time.nanos());
            int room = room(turn.topic());
            if (room > 0) {
                claim(turn, room);
            }
        }
    }

    /** One statement for all topics. */
    private void poll() {
        try {
            store.nextDue(turns.keySet()).forEach(this::lookAfter);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            // One topic can spoil the question for all, so each is asked by itself.
            events.on(new Event.StoreFailed("poll", Failures.text(e), options.pollInterval()));
            lookNow();
        }
        nextPoll = time.nanos() + options.pollInterval().toNanos();
    }

    /** Answers in how many nanoseconds this topic wants its next turn. A topic that fails does not stop the others. */
    private long take(Turn turn) {
        try {
            return claimIfDue(turn);
        } catch (StoreUnavailableException e) {
            throw e; // it is not this topic's fault
        } catch (RuntimeException e) {
            Duration pause = turn.failed(time.nanos());
            events.on(new Event.StoreFailed("claim " + turn.topic().name(), Failures.text(e), pause));
            return pause.toNanos();
        }
    }

    private long claimIfDue(Turn turn) {
        long wait = turn.waitFrom(time.nanos());
        if (wait > 0) {
            return wait;
        }
        int room = room(turn.topic());
        if (room <= 0) {
            return Turn.NEVER; // woken when a slot becomes free
        }
        long gather = GATHER.toNanos() - turn.sinceClaim(time.nanos());
        if (gather > 0 && room < Math.min(options.batchSize(), turn.topic().maxInFlight()) / 2) {
            return gather;
        }
        claim(turn, room);
        return turn.waitFrom(time.nanos());
    }

    private int room(Topic topic) {
        return inFlight.freeBytes() <= 0 ? 0 : Math.min(inFlight.freeSlots(topic), options.batchSize());
    }

    private void claim(Turn turn, int room) {
        Topic topic = turn.topic();
        ClaimRequest request = request(topic, room);
        Held.Stamp asked = Held.Stamp.now(time);
        boolean due = turn.begin(asked.nanos());
        try {
            List<Claim> claims = store.claim(request);
            turn.claimed(time.nanos());
            handOver(topic, claims, asked);
            if (isFull(claims, request)) {
                turn.want();
            }
            if (due) {
                followUp(topic, claims);
            }
        } catch (RuntimeException e) {
            turn.again(due, time.nanos());
            throw e;
        }
    }

    private ClaimRequest request(Topic topic, int room) {
        return new ClaimRequest(
                topic.name(),
                options.worker(),
                topic.tenants(),
                room,
                inFlight.freeBytes(),
                options.lease(),
                topic.maxAttempts());
    }

    private void handOver(Topic topic, List<Claim> claims, Held.Stamp asked) {
        if (claims.isEmpty()) {
            return;
        }
        events.on(new Event.Fetched(topic.name(), claims.size()));
        List<Held> held =
                claims.stream().map(claim -> new Held(topic, claim, asked)).toList();
        held.forEach(inFlight::add); // all of them before the first answer can come
        held.forEach(pipeline::deliver);
    }

    private static boolean isFull(List<Claim> claims, ClaimRequest request) {
        long bytes = claims.stream()
                .mapToLong(claim -> claim.message().payload().size())
                .sum();
        return claims.size() >= request.limit() || bytes >= request.maxBytes();
    }

    /** Something was known to be due. */
    private void followUp(Topic topic, List<Claim> claims) {
        if (claims.isEmpty()) {
            sweep(topic); // perhaps a lease that ran out on its last attempt
        } else {
            long soon = time.nanos() + ASK_AGAIN.toNanos();
            nextPoll = soon - nextPoll < 0 ? soon : nextPoll;
        }
    }

    private void sweep(Topic topic) {
        int buried = store.sweep(topic.name(), topic.maxAttempts(), SWEEP_LIMIT);
        if (buried > 0) {
            events.on(new Event.Swept(topic.name(), buried));
        }
    }
}
