package dev.postrider.benchmarks.measurement;

import java.time.Duration;

/**
 * How large and how long everything is.
 *
 * @param rounds how often everything is repeated
 * @param backlog messages to drain
 * @param shallow the small backlog of the comparison by depth, and how many messages are timed at either depth
 * @param deep the large one
 * @param idle how many messages wait in a topic that nobody reads
 * @param load how long a load lasts
 * @param quiet how long the idle systems are watched
 * @param heap how many messages are drained by a small heap
 */
public record Scale(
        String name,
        int rounds,
        int backlog,
        int shallow,
        int deep,
        int idle,
        Duration load,
        Duration quiet,
        int heap) {

    /** For the aims: takes the better part of an hour. */
    public static Scale full() {
        return new Scale(
                "full",
                5,
                300_000,
                10_000,
                1_000_000,
                500_000,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                1_000_000);
    }

    /** Under five minutes: for the direction, not for the last tenth. */
    public static Scale quick() {
        return new Scale(
                "quick", 3, 30_000, 10_000, 60_000, 50_000, Duration.ofSeconds(1), Duration.ofSeconds(6), 30_000);
    }

    /** A few seconds: only to see that everything works. */
    public static Scale tiny() {
        return new Scale("tiny", 1, 300, 100, 300, 100, Duration.ofMillis(100), Duration.ofMillis(200), 100);
    }
}
