package dev.postrider.health;

import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The result of a health check. Immutable.
 *
 * @param status the worst status of the findings; {@link Status#OK} without any
 * @param findings what an operator should look at, the worst first
 */
public record Health(Status status, List<HealthFinding> findings) {

    /** How healthy the system is, from good to bad. */
    public enum Status {
        /** Nothing needs an operator. */
        OK,
        /** Messages are delivered, and something needs an operator. */
        DEGRADED,
        /** Messages are not delivered. */
        UNHEALTHY
    }

    /** What is wrong. */
    public enum Cause {
        /** The messages to be delivered are more than the threshold. */
        BACKLOG,
        /** The oldest message that is due waits for longer than the threshold. */
        OLDEST_AGE,
        /** Too many attempts of the rolling window failed. */
        FAILURE_RATIO,
        /** The dead letters are more than the threshold. */
        DEAD_LETTERS,
        /** The blocked keys are more than the threshold. */
        BLOCKED_KEYS,
        /** The circuit breaker of a topic is not closed on this node. */
        CIRCUIT_OPEN,
        /** Leases have ended and no node has taken over their messages. */
        EXPIRED_LEASES,
        /** A topic has a backlog and no live node delivers it. */
        NO_NODE,
        /** A transaction keeps removed rows from being cleaned up. */
        OLD_TRANSACTION,
        /** This version of the library does not fit the tables. */
        SCHEMA,
        /** The clocks of this node and of the database differ. */
        CLOCK_SKEW,
        /** The database failed, and did not answer since. */
        DATABASE,
        /** The last sample is older than three intervals, or there is none yet. */
        NO_SAMPLE
    }

    /**
     * One thing that is wrong.
     *
     * @param topic the topic; null when it concerns the node or the database
     * @param text a sentence that names the cause and the numbers
     */
    public record HealthFinding(
            Status status, Cause cause, @Nullable TopicName topic, String text) {}

    private static final Set<Cause> OF_NODE = Set.of(Cause.DATABASE, Cause.SCHEMA, Cause.NO_SAMPLE);

    public Health {
        findings = List.copyOf(findings);
    }

    /**
     * Returns whether this node can do its work: it reaches the database and fits the tables. Other findings, such as a
     * topic without a node, do not make a node unready: its restart would not help.
     */
    public boolean isReady() {
        return findings.stream()
                .noneMatch(finding -> finding.status() == Status.UNHEALTHY && OF_NODE.contains(finding.cause()));
    }
}
