package dev.postrider.micrometer;

import java.util.List;

/**
 * The metrics, with the names that Micrometer gets. {@code docs/metrics.md} is made from this list. A metric always has
 * the same tags, and no tag has the value of an id, a key or a tenant.
 */
public enum Metric {
    OUTCOMES(
            "postrider.outcomes",
            Type.COUNTER,
            "Outcomes of messages on this node that were written, or came too late",
            Tags.TOPIC,
            Tags.OUTCOME),
    DELIVERY(
            "postrider.delivery",
            Type.TIMER,
            "Time from the claim or read of a delivered message until its outcome was written",
            Tags.TOPIC),
    END_TO_END(
            "postrider.end.to.end",
            Type.TIMER,
            "Time from the event of a message (its occurredAt, by default the time in its id) until it was delivered",
            Tags.TOPIC),
    CLAIMED("postrider.claimed", Type.COUNTER, "Messages that this node claimed", Tags.TOPIC),
    HANDED_OVER("postrider.handed.over", Type.COUNTER, "Messages of the local hand-over on this node", Tags.TOPIC),
    SWEPT("postrider.swept", Type.COUNTER, "Messages whose node was lost on their last attempt, now dead", Tags.TOPIC),
    SUSPECTS("postrider.suspects", Type.COUNTER, "Deliveries of suspects", Tags.TOPIC),
    FOUND_LATE("postrider.found.late", Type.COUNTER, "Messages that appeared below the horizon of a lane", Tags.TOPIC),
    DUPLICATES(
            "postrider.duplicates",
            Type.COUNTER,
            "Messages that were not written, because their idempotency key was used; payload: same or different",
            Tags.TOPIC,
            Tags.PAYLOAD),
    FAILURE_RATIO(
            "postrider.failure.ratio",
            Type.GAUGE,
            "Failed part of the attempts of this node in the rolling window, 0 to 1",
            Tags.TOPIC),
    IN_FLIGHT("postrider.in.flight", Type.GAUGE, "Messages in flight on this node"),
    SLOTS_TAKEN("postrider.slots.taken", Type.GAUGE, "Slots of the topic that deliveries have taken", Tags.TOPIC),
    SLOTS("postrider.slots", Type.GAUGE, "Slots that the topic can have on this node", Tags.TOPIC),
    LANES_OWNED("postrider.lanes.owned", Type.GAUGE, "Lanes that this node owns", Tags.TOPIC),
    CIRCUIT_STATE(
            "postrider.circuit.state",
            Type.GAUGE,
            "State of the circuit breaker on this node: 0 closed, 1 half-open, 2 open",
            Tags.TOPIC),
    CIRCUIT_OPENED(
            "postrider.circuit.opened", Type.COUNTER, "Openings of the circuit breaker on this node", Tags.TOPIC),
    STORE_FAILURES("postrider.store.failures", Type.COUNTER, "Operations on the database that failed on this node"),
    CLOCK_SKEW(
            "postrider.clock.skew",
            Type.SECONDS_GAUGE,
            "How far the clock of this node is ahead of that of the database; negative if it is behind"),
    PURGED(
            "postrider.purged",
            Type.COUNTER,
            "Rows past their retention that this node removed; kind: archived, dead, key, inbox_mark, command",
            Tags.KIND),
    MESSAGES("postrider.messages", Type.SAMPLED, "Messages of a topic in a state", Tags.TOPIC, Tags.STATE),
    MESSAGES_LIMITED(
            "postrider.messages.limited",
            Type.SAMPLED,
            "1 if the count of postrider.messages ended at its limit and there may be more; otherwise 0",
            Tags.TOPIC,
            Tags.STATE),
    OLDEST_AGE(
            "postrider.oldest.age",
            Type.SAMPLED_SECONDS,
            "Age of the oldest message that is due, processing, retrying, blocked or parked",
            Tags.TOPIC),
    ATTEMPTED(
            "postrider.attempted",
            Type.SAMPLED,
            "Messages that are not dead and had three or more attempts",
            Tags.TOPIC),
    BLOCKED_KEYS("postrider.blocked.keys", Type.SAMPLED, "Blocked keys", Tags.TOPIC),
    EXPIRED_LEASES(
            "postrider.expired.leases",
            Type.SAMPLED,
            "Leases of messages and lanes that have ended and were not taken over",
            Tags.TOPIC),
    NODES("postrider.nodes", Type.SAMPLED, "Live nodes that deliver the topic", Tags.TOPIC),
    PAUSED("postrider.paused", Type.SAMPLED, "1 if an operator paused the topic, otherwise 0", Tags.TOPIC),
    IDEMPOTENCY_KEYS(
            "postrider.idempotency.keys", Type.SAMPLED, "Marks of used idempotency keys, up to the limit of a count"),
    INBOX_MARKS("postrider.inbox.marks", Type.SAMPLED, "Marks of received messages, up to the limit of a count"),
    STORED_COMMANDS(
            "postrider.commands.stored",
            Type.SAMPLED,
            "Commands in a state, up to the limit of a count; stuck: in progress with a lease that has ended",
            Tags.STATE),
    OLDEST_TRANSACTION(
            "postrider.oldest.transaction",
            Type.SAMPLED_SECONDS,
            "Age of the oldest transaction of the database that the user may see, 0 without one"),
    SAMPLE_AGE("postrider.sample.age", Type.SECONDS_GAUGE, "Time since this node got a new sample"),
    SAMPLE_DURATION("postrider.sample.duration", Type.SAMPLED_SECONDS, "How long the last sample took"),
    INBOX(
            "postrider.inbox",
            Type.COUNTER,
            "Received messages; outcome: processed, duplicate, collision, too_old, no_handler",
            Tags.CONSUMER,
            Tags.OUTCOME),
    INBOX_PROCESS("postrider.inbox.process", Type.TIMER, "Time to process a received message", Tags.CONSUMER),
    COMMANDS(
            "postrider.commands",
            Type.COUNTER,
            "Commands; outcome: claimed, taken_over, completed, rejected, failed, replayed, in_progress, mismatch, lost, uncertain",
            Tags.OPERATION,
            Tags.OUTCOME),
    COMMAND(
            "postrider.command",
            Type.TIMER,
            "Time from the start of a command until its outcome was written",
            Tags.OPERATION);

    /** The kinds of meters. */
    public enum Type {
        COUNTER,
        TIMER,
        /** A gauge of this node. */
        GAUGE,
        /** A gauge of this node, in seconds. */
        SECONDS_GAUGE,
        /** A gauge of the database. Every node has the same value: use the maximum. */
        SAMPLED,
        /** As {@link #SAMPLED}, in seconds. */
        SAMPLED_SECONDS;

        boolean isSampled() {
            return this == SAMPLED || this == SAMPLED_SECONDS;
        }

        boolean isInSeconds() {
            return this == SECONDS_GAUGE || this == SAMPLED_SECONDS;
        }
    }

    /** The keys of tags. */
    static final class Tags {

        static final String TOPIC = "topic";
        static final String OUTCOME = "outcome";
        static final String STATE = "state";
        static final String PAYLOAD = "payload";
        static final String KIND = "kind";
        static final String CONSUMER = "consumer";
        static final String OPERATION = "operation";

        private Tags() {}
    }

    private final String meterName;
    private final Type type;
    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // List.of is immutable; its type does not say so
    private final List<String> tags;

    Metric(String meterName, Type type, String description, String... tags) {
        this.meterName = meterName;
        this.type = type;
        this.description = description;
        this.tags = List.of(tags);
    }

    /** Returns the name in Micrometer. */
    public String meterName() {
        return meterName;
    }

    public Type type() {
        return type;
    }

    public String description() {
        return description;
    }

    /** Returns the keys of the tags. */
    public List<String> tags() {
        return tags;
    }

    /** Returns the names of the time series in Prometheus. */
    public List<String> seriesNames() {
        String name = meterName.replace('.', '_');
        return switch (type) {
            case COUNTER -> List.of(name + "_total");
            case TIMER ->
                List.of(
                        name + "_seconds_bucket",
                        name + "_seconds_count",
                        name + "_seconds_sum",
                        name + "_seconds_max");
            case GAUGE, SAMPLED -> List.of(name);
            case SECONDS_GAUGE, SAMPLED_SECONDS -> List.of(name + "_seconds");
        };
    }
}
