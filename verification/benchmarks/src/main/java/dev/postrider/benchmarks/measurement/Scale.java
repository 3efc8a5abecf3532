package dev.postrider.benchmarks.measurement;

import java.time.Duration;

/**
 * The sizes and durations of all measurements.
 *
 * @param rounds the number of rounds
 * @param backlog the number of messages to drain
 * @param shallow the small backlog of the comparison by depth, and the number of timed messages at either depth
 * @param deep the large backlog of that comparison
 * @param idle the number of messages that wait in a topic whose destination is down
 * @param blocked the number of messages that are blocked behind the heads of their keys
 * @param load the duration of a load
 * @param quiet the duration of the idle measurement
 * @param heap the number of messages for the small heap
 * @param isPatient whether systems that poll every few seconds take part wherever possible
 */
public record Scale(
        String name,
        int rounds,
        int backlog,
        int shallow,
        int deep,
        int idle,
        int blocked,
        Duration load,
        Duration quiet,
        int heap,
        boolean isPatient) {

    /** For the aims: takes most of an hour. */
    public static Scale full() {
        return new Scale(
                "full",
                5,
                300_000,
                10_000,
                1_000_000,
                500_000,
                100_000,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                1_000_000,
                true);
    }

    /** Under five minutes: shows tendencies, not exact values. */
    public static Scale quick() {
        return new Scale(
                "quick",
                2,
                25_000,
                10_000,
                50_000,
                20_000,
                20_000,
                Duration.ofSeconds(1),
                Duration.ofSeconds(6),
                30_000,
                false);
    }

    /** A few seconds: only tests that everything works. */
    public static Scale tiny() {
        return new Scale(
                "tiny", 1, 300, 100, 300, 100, 100, Duration.ofMillis(100), Duration.ofMillis(200), 100, false);
    }
}
