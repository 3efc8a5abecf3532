package dev.postrider.health;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The limits beyond which a {@link HealthCheck} reports a finding. Immutable; start with {@link #defaults()}.
 *
 * @param backlog messages of a topic that are to be delivered
 * @param oldestAge the age of the oldest message that is due
 * @param failureRatio the part of attempts in the rolling window that failed, 0 to 1
 * @param leastAttempts attempts in the window below which the failure ratio says nothing
 * @param deadLetters dead letters of a topic
 * @param blockedKeys blocked keys of a topic
 * @param transactionAge the age of the oldest transaction of the database
 * @param clockSkew the difference between the clocks of node and database
 * @param window the length of the rolling window
 */
public record HealthThresholds(
        long backlog,
        Duration oldestAge,
        double failureRatio,
        int leastAttempts,
        long deadLetters,
        long blockedKeys,
        Duration transactionAge,
        Duration clockSkew,
        Duration window) {

    private static final Duration SHORTEST_WINDOW = Duration.ofSeconds(10);
    private static final Duration LONGEST_WINDOW = Duration.ofHours(24);

    public HealthThresholds {
        require(backlog >= 0, "backlog", "must not be negative, but is " + backlog);
        require(isPositive(oldestAge), "oldest-age", "must be longer than 0, but is " + oldestAge);
        require(failureRatio >= 0 && failureRatio <= 1, "failure-ratio", "must be 0 to 1, but is " + failureRatio);
        require(leastAttempts >= 1, "least-attempts", "must be at least 1, but is " + leastAttempts);
        require(deadLetters >= 0, "dead-letters", "must not be negative, but is " + deadLetters);
        require(blockedKeys >= 0, "blocked-keys", "must not be negative, but is " + blockedKeys);
        require(isPositive(transactionAge), "transaction-age", "must be longer than 0, but is " + transactionAge);
        require(isPositive(clockSkew), "clock-skew", "must be longer than 0, but is " + clockSkew);
        require(
                window.compareTo(SHORTEST_WINDOW) >= 0 && window.compareTo(LONGEST_WINDOW) <= 0,
                "window",
                "must be 10 s to 24 h, but is " + window);
    }

    /** Returns the defaults. Each is written here, once. */
    public static HealthThresholds defaults() {
        return new HealthThresholds(
                10_000,
                Duration.ofMinutes(5),
                0.5,
                20,
                0,
                0,
                Duration.ofMinutes(10),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5));
    }

    /** Returns a copy with changes: {@code thresholds.with(t -> t.backlog(1000))}. */
    public HealthThresholds with(Consumer<Builder> change) {
        Builder builder = new Builder(this);
        change.accept(builder);
        return builder.build();
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    private static void require(boolean condition, String property, String problem) {
        if (!condition) {
            throw new InvalidConfigurationException("health." + property, problem);
        }
    }

    /** Collects the thresholds. Each method has the name of its property. Not thread-safe. */
    public static final class Builder {

        private long backlog;
        private Duration oldestAge;
        private double failureRatio;
        private int leastAttempts;
        private long deadLetters;
        private long blockedKeys;
        private Duration transactionAge;
        private Duration clockSkew;
        private Duration window;

        private Builder(HealthThresholds thresholds) {
            backlog = thresholds.backlog;
            oldestAge = thresholds.oldestAge;
            failureRatio = thresholds.failureRatio;
            leastAttempts = thresholds.leastAttempts;
            deadLetters = thresholds.deadLetters;
            blockedKeys = thresholds.blockedKeys;
            transactionAge = thresholds.transactionAge;
            clockSkew = thresholds.clockSkew;
            window = thresholds.window;
        }

        /** Sets how many messages of a topic may wait for their delivery. Counts end at some 10,000 per state. */
        public Builder backlog(long backlog) {
            this.backlog = backlog;
            return this;
        }

        /** Sets how old the oldest message that is due may be. */
        public Builder oldestAge(Duration oldestAge) {
            this.oldestAge = oldestAge;
            return this;
        }

        /** Sets which part of the attempts in the window may fail, 0 to 1. */
        public Builder failureRatio(double failureRatio) {
            this.failureRatio = failureRatio;
            return this;
        }

        /** Sets the number of attempts in the window below which the failure ratio is ignored. */
        public Builder leastAttempts(int leastAttempts) {
            this.leastAttempts = leastAttempts;
            return this;
        }

        /** Sets how many dead letters a topic may have. */
        public Builder deadLetters(long deadLetters) {
            this.deadLetters = deadLetters;
            return this;
        }

        /** Sets how many blocked keys a topic may have. */
        public Builder blockedKeys(long blockedKeys) {
            this.blockedKeys = blockedKeys;
            return this;
        }

        /** Sets how old the oldest transaction of the database may be. */
        public Builder transactionAge(Duration transactionAge) {
            this.transactionAge = transactionAge;
            return this;
        }

        /** Sets how much the clocks of node and database may differ. */
        public Builder clockSkew(Duration clockSkew) {
            this.clockSkew = clockSkew;
            return this;
        }

        /** Sets the length of the rolling window, 10 s to 24 h. */
        public Builder window(Duration window) {
            this.window = window;
            return this;
        }

        private HealthThresholds build() {
            return new HealthThresholds(
                    backlog,
                    oldestAge,
                    failureRatio,
                    leastAttempts,
                    deadLetters,
                    blockedKeys,
                    transactionAge,
                    clockSkew,
                    window);
        }
    }
}
