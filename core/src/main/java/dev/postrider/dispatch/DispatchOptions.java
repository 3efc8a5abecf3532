package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The settings of a node. Immutable, and validated as a whole; start with {@link #builder()}. The names in errors and
 * in {@link #describe()} are those of {@code docs/configuration.md}.
 *
 * @param deadRetention how long dead letters are kept; empty for no limit
 * @param inboxRetention how long the mark of a received message is kept; empty for no limit
 */
public record DispatchOptions(
        String worker,
        Duration pollInterval,
        int batchSize,
        Duration lease,
        int maxInFlight,
        long maxInFlightBytes,
        Duration drainTimeout,
        Duration housekeepingInterval,
        Duration archiveRetention,
        Optional<Duration> deadRetention,
        Duration keyRetention,
        Optional<Duration> inboxRetention,
        int purgeBatch,
        boolean handOver) {

    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
    private static final Duration LONGEST_WAIT = Duration.ofHours(24);
    private static final Duration LONGEST_RETENTION = Duration.ofDays(10_000);

    public DispatchOptions {
        require(
                !worker.isBlank()
                        && worker.length() <= 100
                        && worker.chars()
                                .noneMatch(c -> Character.isISOControl(c)
                                        || Character.getType(c) == Character.LINE_SEPARATOR
                                        || Character.getType(c) == Character.PARAGRAPH_SEPARATOR),
                "worker",
                "must be a name of 1 to 100 characters, on one line");
        require(
                pollInterval.compareTo(SHORTEST) >= 0 && pollInterval.compareTo(LONGEST_WAIT.dividedBy(3)) <= 0,
                "poll-interval",
                "must be at least 1 ms and at most 8 h, but is " + pollInterval);
        require(
                lease.compareTo(SHORTEST_LEASE) >= 0 && lease.compareTo(LONGEST_WAIT) <= 0,
                "lease",
                "must be 1 s to 24 h, but is " + lease);
        require(
                pollInterval.compareTo(lease.dividedBy(3)) <= 0,
                "poll-interval",
                "(" + pollInterval + ") must not be above a third of lease (" + lease + ")");
        range("batch-size", batchSize, 1, 10_000);
        range("max-in-flight", maxInFlight, 1, 100_000);
        require(maxInFlightBytes > 0, "max-in-flight-bytes", "must be positive, but is " + maxInFlightBytes);
        require(
                !drainTimeout.isNegative() && drainTimeout.compareTo(LONGEST_WAIT) <= 0,
                "drain-timeout",
                "must be 0 to 24 h, but is " + drainTimeout);
        require(
                housekeepingInterval.compareTo(SHORTEST) >= 0 && housekeepingInterval.compareTo(LONGEST_WAIT) <= 0,
                "housekeeping-interval",
                "must be 1 ms to 24 h, but is " + housekeepingInterval);
        retention("archive-retention", archiveRetention);
        deadRetention.ifPresent(age -> retention("dead-retention", age));
        retention("key-retention", keyRetention);
        inboxRetention.ifPresent(age -> retention("inbox-retention", age));
        range("purge-batch", purgeBatch, 1, 10_000);
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The last part of every lease. No delivery begins in it, and every transport must have answered before it. */
    Duration headroom() {
        return lease.dividedBy(10);
    }

    /** All properties with their values, named as in the documentation. */
    public Map<String, String> describe() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("poll-interval", text(pollInterval));
        properties.put("batch-size", Integer.toString(batchSize));
        properties.put("lease", text(lease));
        properties.put("max-in-flight", Integer.toString(maxInFlight));
        properties.put("max-in-flight-bytes", Long.toString(maxInFlightBytes));
        properties.put("drain-timeout", text(drainTimeout));
        properties.put("housekeeping-interval", text(housekeepingInterval));
        properties.put("archive-retention", text(archiveRetention));
        properties.put(
                "dead-retention", deadRetention.map(DispatchOptions::text).orElse("forever"));
        properties.put("key-retention", text(keyRetention));
        properties.put(
                "inbox-retention", inboxRetention.map(DispatchOptions::text).orElse("forever"));
        properties.put("purge-batch", Integer.toString(purgeBatch));
        properties.put("hand-over", Boolean.toString(handOver));
        return properties;
    }

    /** The duration in the largest unit that divides it: days, hours, minutes, seconds or milliseconds. */
    static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 86_400_000 == 0) {
            return millis / 86_400_000 + "d";
        }
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }

    private static void retention(String property, Duration value) {
        require(
                value.compareTo(SHORTEST) >= 0 && value.compareTo(LONGEST_RETENTION) <= 0,
                property,
                "must be 1 ms to " + LONGEST_RETENTION.toDays() + " days, but is " + value);
    }

    private static void range(String property, int value, int min, int max) {
        require(value >= min && value <= max, property, "must be " + min + " to " + max + ", but is " + value);
    }

    private static void require(boolean condition, String property, String problem) {
        if (!condition) {
            throw new InvalidConfigurationException(property, problem);
        }
    }

    /** Builds the options. Each default is written here, once. Not thread-safe. */
    public static final class Builder {

        private String worker = ProcessHandle.current().pid() + "-"
                + UUID.randomUUID().toString().substring(0, 8);
        private Duration pollInterval = Duration.ofSeconds(5);
        private int batchSize = 100;
        private Duration lease = Duration.ofSeconds(30);
        private int maxInFlight = 1000;
        private long maxInFlightBytes = 64L * 1024 * 1024;
        private Duration drainTimeout = Duration.ofSeconds(20);
        private Duration housekeepingInterval = Duration.ofMinutes(1);
        private Duration archiveRetention = Duration.ofDays(1);
        private Optional<Duration> deadRetention = Optional.empty();
        private Duration keyRetention = Duration.ofDays(30);
        private Optional<Duration> inboxRetention = Optional.of(Duration.ofDays(30));
        private int purgeBatch = 1000;
        private boolean handOver = true;

        private Builder() {}

        /** The name that operators see as the owner of a lease. By default the process id and a random part. */
        public Builder worker(String worker) {
            this.worker = worker;
            return this;
        }

        /**
         * The interval of polls, and so the longest time until a message of another process is found without a wake-up.
         * At most a third of the lease.
         */
        public Builder pollInterval(Duration pollInterval) {
            this.pollInterval = pollInterval;
            return this;
        }

        /** The largest number of messages that one statement claims. */
        public Builder batchSize(int batchSize) {
            this.batchSize = batchSize;
            return this;
        }

        /**
         * The time after which other nodes take over the messages of a lost node. A lease is extended while its
         * delivery is running.
         */
        public Builder lease(Duration lease) {
            this.lease = lease;
            return this;
        }

        /** The largest number of messages that this node delivers at once, over all topics. */
        public Builder maxInFlight(int maxInFlight) {
            this.maxInFlight = maxInFlight;
            return this;
        }

        /** The largest total payload of the messages in flight on this node, in bytes, over all topics. */
        public Builder maxInFlightBytes(long maxInFlightBytes) {
            this.maxInFlightBytes = maxInFlightBytes;
            return this;
        }

        /** How long a stop waits for running deliveries before it releases the rest. */
        public Builder drainTimeout(Duration drainTimeout) {
            this.drainTimeout = drainTimeout;
            return this;
        }

        /** How often old rows are purged and a summary is published. */
        public Builder housekeepingInterval(Duration housekeepingInterval) {
            this.housekeepingInterval = housekeepingInterval;
            return this;
        }

        public Builder archiveRetention(Duration archiveRetention) {
            this.archiveRetention = archiveRetention;
            return this;
        }

        /** How long dead letters are kept. There is no limit without this call. */
        public Builder deadRetention(Duration deadRetention) {
            this.deadRetention = Optional.of(deadRetention);
            return this;
        }

        /** How long an idempotency key stays used: at least this time, counted from its first use. */
        public Builder keyRetention(Duration keyRetention) {
            this.keyRetention = keyRetention;
            return this;
        }

        /**
         * How long the mark of a received message is kept, counted from its first receipt. It must be longer than any
         * sender can repeat the message: the retention of its broker, delayed retries, and dead letters that an
         * operator replays.
         */
        public Builder inboxRetention(Duration inboxRetention) {
            this.inboxRetention = Optional.of(inboxRetention);
            return this;
        }

        /** Keeps the marks of received messages without a limit. Their table only grows then. */
        public Builder inboxRetentionForever() {
            this.inboxRetention = Optional.empty();
            return this;
        }

        /** The largest number of rows that one purge statement removes. */
        public Builder purgeBatch(int purgeBatch) {
            this.purgeBatch = purgeBatch;
            return this;
        }

        /**
         * Whether this node delivers the messages that a unit of work stages on it directly after the commit, without a
         * claim. This local hand-over applies to unordered topics that the node delivers and has room for. Switch it
         * off where the writing nodes should leave the deliveries to other nodes as long as those have room.
         */
        public Builder handOver(boolean handOver) {
            this.handOver = handOver;
            return this;
        }

        public DispatchOptions build() {
            return new DispatchOptions(
                    worker,
                    pollInterval,
                    batchSize,
                    lease,
                    maxInFlight,
                    maxInFlightBytes,
                    drainTimeout,
                    housekeepingInterval,
                    archiveRetention,
                    deadRetention,
                    keyRetention,
                    inboxRetention,
                    purgeBatch,
                    handOver);
        }
    }
}
