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

    /** Something may be due in this topic. */
    void lookNow(TopicName topic) {
        Turn turn = turns.get(topic);
        if (turn != null) {
            turn.want();
        }
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
            if (room(turn.topic()) > 0) {
                claim(turn);
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
        claim(turn);
        return turn.waitFrom(time.nanos());
    }

    private int room(Topic topic) {
        return Math.min(inFlight.freeSlots(topic), options.batchSize());
    }

    private void claim(Turn turn) {
        InFlight.Room room = inFlight.takeForClaim(turn.topic(), options.batchSize());
        if (room.slots() == 0) {
            inFlight.giveBack(room); // somebody was quicker
            return;
        }
        Topic topic = turn.topic();
        Held.Stamp asked = Held.Stamp.now(time);
        boolean due = turn.begin(asked.nanos());
        ClaimRequest request = request(topic, room, due);
        try {
            List<Held> held = hold(topic, request, asked, room);
            turn.claimed(time.nanos());
            boolean full = isFull(held, request);
            inFlight.claimed(topic, full);
            handOver(topic, held);
            if (full) {
                turn.want();
            }
            if (due) {
                followUp(topic, held);
            }
        } catch (RuntimeException e) {
            turn.again(due, time.nanos());
            throw e;
        }
    }

    /** @param due whether something is known to be due, perhaps a lease that ran out; otherwise something new may be there */
    private ClaimRequest request(Topic topic, InFlight.Room room, boolean due) {
        return new ClaimRequest(
                topic.name(),
                options.worker(),
                topic.tenants(),
                room.slots(),
                room.bytes(),
                options.lease(),
                topic.maxAttempts(),
                !due);
    }

    private List<Held> hold(Topic topic, ClaimRequest request, Held.Stamp asked, InFlight.Room room) {
        try {
            List<Claim> claims = store.claim(request);
            List<Held> held =
                    claims.stream().map(claim -> new Held(topic, claim, asked)).toList();
            held.forEach(inFlight::add); // all of them before the first answer can come
            return held;
        } finally {
            inFlight.giveBack(room);
        }
    }

    private void handOver(Topic topic, List<Held> held) {
        if (!held.isEmpty()) {
            events.on(new Event.Fetched(topic.name(), held.size()));
            held.forEach(pipeline::deliver);
        }
    }

    private static boolean isFull(List<Held> held, ClaimRequest request) {
        long bytes = held.stream().mapToLong(Held::bytes).sum();
        return held.size() >= request.limit() || bytes >= request.maxBytes();
    }

    /** Something was known to be due. */
    private void followUp(Topic topic, List<Held> held) {
        if (held.isEmpty()) {
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
