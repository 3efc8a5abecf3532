package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.HashMap;
import java.util.Map;

/**
 * A budget of slots or bytes that the topics of a node share. One half is divided equally among the topics: each topic
 * has its own share, which no other topic can take. The other half is common and goes to the first request. Not
 * thread-safe.
 */
final class SharedBudget {

    private final long own;
    private final long common;
    private final Map<TopicName, Taken> taken = new HashMap<>();
    private long total;
    private long takenInCommon;

    private static final class Taken {
        long amount;
    }

    /** @param topics the number of topics; each gets at least 1, even if the sum is above the total */
    SharedBudget(long total, int topics) {
        int sharers = Math.max(topics, 1);
        this.own = Math.max(total / 2 / sharers, 1);
        this.common = Math.max(total - own * sharers, 0);
    }

    /** The largest amount that a topic can take. */
    long most() {
        return own + common;
    }

    /** The amount that this topic can take now. Negative when it took more than there was. */
    long free(TopicName topic) {
        long ownLeft = own - taken(topic);
        long commonLeft = common - takenInCommon;
        return ownLeft > 0 ? ownLeft + Math.max(commonLeft, 0) : commonLeft;
    }

    /** The amount that all topics have taken. */
    long taken() {
        return total;
    }

    long taken(TopicName topic) {
        return of(topic).amount;
    }

    private Taken of(TopicName topic) {
        return taken.computeIfAbsent(topic, name -> new Taken());
    }

    /** @param amount negative to give back */
    void take(TopicName topic, long amount) {
        Taken count = of(topic);
        long before = count.amount;
        long after = before + amount;
        count.amount = after;
        total += amount;
        takenInCommon += Math.max(after - own, 0) - Math.max(before - own, 0);
    }
}
