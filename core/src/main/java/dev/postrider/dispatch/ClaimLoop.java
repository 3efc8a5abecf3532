package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Claims for the topics that may have work and have room for it, each in its way. Looks again at once after a full batch or a
 * wake-up, and otherwise when something comes due; what other nodes wrote is noticed at the poll interval. One thread runs it;
 * wake-ups come from any.
 */
final class ClaimLoop {

    /** Rather than claim again for each slot that becomes free, wait this long for more. */
    private static final Duration GATHER = Duration.ofMillis(5);

    /** Where something came due there is often more to come: ask when, this soon. */
    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final Duration pollInterval;
    private final Time time;
    private final EventListener events;
    private final Map<TopicName, Turn> turns = new LinkedHashMap<>();
    private final List<Turn> order;
    private long nextPoll;

    /** @param claimers how each topic is claimed */
    ClaimLoop(Map<Topic, Claimer> claimers, Duration pollInterval, Time time, EventListener events) {
        this.pollInterval = pollInterval;
        this.time = time;
        this.events = events;
        this.nextPoll = time.nanos();
        claimers.forEach((topic, claimer) -> turns.put(topic.name(), new Turn(topic, claimer, time.nanos())));
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
        if (turn != null && delay.compareTo(pollInterval) <= 0) {
            turn.dueAt(time.nanos() + delay.toNanos());
        }
    }

    /** Nothing of this topic is looked for meanwhile. */
    void rest(TopicName topic, Duration pause) {
        Turn turn = turns.get(topic);
        if (turn != null) {
            turn.rest(time.nanos() + pause.toNanos());
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
            int room = turn.claimer().room(turn.topic());
            if (room > 0) {
                claim(turn, room);
            }
        }
    }

    /** One statement for all topics that are claimed alike. */
    private void poll() {
        Map<Claimer, List<TopicName>> alike = new LinkedHashMap<>();
        turns.forEach((name, turn) -> alike.computeIfAbsent(turn.claimer(), claimer -> new ArrayList<>())
                .add(name));
        alike.forEach(this::poll);
        nextPoll = time.nanos() + pollInterval.toNanos();
    }

    private void poll(Claimer claimer, List<TopicName> topics) {
        try {
            claimer.nextDue(topics).forEach(this::lookAfter);
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            // One topic can spoil the question for all, so each is asked by itself.
            events.on(new Event.StoreFailed("poll", Failures.text(e), pollInterval));
            topics.forEach(this::lookNow);
        }
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
        int room = turn.claimer().room(turn.topic());
        if (room <= 0) {
            return Turn.NEVER; // woken when a slot becomes free
        }
        long gather = GATHER.toNanos() - turn.sinceClaim(time.nanos());
        if (gather > 0 && room < turn.claimer().capacity(turn.topic()) / 2) {
            return gather;
        }
        claim(turn, room);
        return turn.waitFrom(time.nanos());
    }

    private void claim(Turn turn, int room) {
        boolean due = turn.begin(time.nanos());
        try {
            boolean more = turn.claimer().claim(turn.topic(), room, due);
            turn.claimed(time.nanos());
            if (more) {
                turn.want();
            }
            if (due) {
                long soon = time.nanos() + ASK_AGAIN.toNanos();
                nextPoll = soon - nextPoll < 0 ? soon : nextPoll;
            }
        } catch (RuntimeException e) {
            turn.again(due, time.nanos());
            throw e;
        }
    }
}
