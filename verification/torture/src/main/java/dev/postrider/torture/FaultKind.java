package dev.postrider.torture;

import dev.postrider.testkit.database.Engine;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/** The kinds of fault, with their frequency and duration. */
enum FaultKind {
    KILL_WORKER(5, 0, 5000),
    KILL_PRODUCER(20, 0, 5000),
    KILL_CONSUMER(30, 0, 3000),
    KILL_CALLER(20, 0, 3000),
    PAUSE_WORKER(15, 7500, 15_000),
    PAUSE_CALLER(20, 4000, 9000),
    CRASH_DATABASE(90, 0, 2000),
    TERMINATE_SESSION(3, 0, 0),
    CUT(28, 0, 0),
    DELAY(28, 2000, 6000),
    HALF_OPEN(28, 6000, 12_000),
    SWALLOW_COMMIT(14, 0, 0),
    DESTINATION_DOWN(300, 5000, 60_000),
    RECEIVER_SLOW(60, 3000, 10_000),
    RECEIVER_REFUSING(60, 3000, 10_000),
    RECEIVER_DROPPING(60, 3000, 10_000),
    LONG_WRITE(60, 10_000, 60_000),
    LONG_READ(180, 20_000, 120_000),
    EXHAUST_CONNECTIONS(450, 5000, 20_000),
    RESTART_GRACEFULLY(300, 0, 0),
    REBALANCE(120, 5000, 20_000),
    PAUSE_TOPIC(20, 500, 3000),
    CLOCK_SKEW(300, 10_000, 20_000),
    CLOCK_STEP(300, 10_000, 20_000),
    PROMOTE_STANDBY(450, 3000, 10_000);

    private final int everySeconds;
    private final int shortest;
    private final int longest;

    /** The average time between two faults in seconds, and the shortest and longest duration in milliseconds. */
    FaultKind(int everySeconds, int shortest, int longest) {
        this.everySeconds = everySeconds;
        this.shortest = shortest;
        this.longest = longest;
    }

    /** The kinds that this engine supports. */
    static Set<FaultKind> of(Engine engine) {
        return engine == Engine.POSTGRESQL_18
                ? EnumSet.allOf(FaultKind.class)
                : EnumSet.complementOf(EnumSet.of(PROMOTE_STANDBY));
    }

    /** The name in the evidence. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The number of faults in a run of this length: at least one. */
    int times(int seconds) {
        return Math.max(1, Math.round((float) seconds / everySeconds));
    }

    int shortest() {
        return shortest;
    }

    int longest() {
        return longest;
    }
}
