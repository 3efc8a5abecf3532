package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.HashMap;
import java.util.Map;

/**
 * A budget of slots or bytes that the topics of a node share. One half is divided equally among the topics: each has a share of its own,
 * which no other topic can take. The other half goes to whoever comes first. Not thread-safe.
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

    /** @param topics how many topics there are; each has at least 1, even if that is more than the total */
    SharedBudget(long total, int topics) {
        int sharers = Math.max(topics, 1);
        this.own = Math.max(total / 2 / sharers, 1);
        this.common = Math.max(total - own * sharers, 0);
    }

    /** How much this topic may take at most. */
    long most() {
        return own + common;
    }

    /** How much this topic may take now. Negative when it took more than there was. */
    long free(TopicName topic) {
        long ownLeft = own - taken(topic);
        long commonLeft = common - takenInCommon;
        return ownLeft > 0 ? ownLeft + Math.max(commonLeft, 0) : commonLeft;
    }

    /** How much all topics have taken. */
    long taken() {
        return total;
    }

    long taken(TopicName topic) {
        return of(topic).amount;
    }

    private Taken of(TopicName topic) {
        return taken.computeIfAbsent(topic, name -> new Taken());
    }

    /** @param amount negative for what is given back */
    void take(TopicName topic, long amount) {
        Taken count = of(topic);
        long before = count.amount;
        long after = before + amount;
        count.amount = after;
        total += amount;
        takenInCommon += Math.max(after - own, 0) - Math.max(before - own, 0);
    }
}
