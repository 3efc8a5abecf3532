package dev.postrider.benchmarks.measurement;

import java.time.Duration;

/**
 * How large and how long everything is.
 *
 * @param rounds how often everything is repeated
 * @param backlog messages to drain
 * @param shallow the small backlog of the comparison by depth, and how many messages are timed at either depth
 * @param deep the large one
 * @param idle how many messages wait in a topic whose destination is down
 * @param blocked how many messages wait behind the first ones of their keys
 * @param load how long a load lasts
 * @param quiet how long the idle systems are watched
 * @param heap how many messages are drained by a small heap
 * @param isPatient whether systems that look every few seconds are waited for wherever they can take part
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

    /** For the aims: takes the better part of an hour. */
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

    /** Under five minutes: for the direction, not for the last tenth. */
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

    /** A few seconds: only to see that everything works. */
    public static Scale tiny() {
        return new Scale(
                "tiny", 1, 300, 100, 300, 100, 100, Duration.ofMillis(100), Duration.ofMillis(200), 100, false);
    }
}
