package dev.postrider.benchmarks.measurement;

import java.time.Duration;

/**
 * The sizes and durations of all measurements.
 *
 * @param limit the time of the run: each measurement gets a part of it for its rounds, and none begins afterwards
 * @param rounds the number of rounds of draining and enqueueing on PostgreSQL
 * @param otherRounds the number of rounds of everything else
 * @param burdenRounds the number of rounds of Postrider with and without a burden, a multiple of the number of burdens: so each is the
 *     first one equally often
 * @param round the time that a fast system works in a round
 * @param warmUp the time that it works before
 * @param firstBacklog the messages of its first drain, when its rate is not known
 * @param smallestBacklog the least messages of a drain, however slow the system is
 * @param largestBacklog the most messages of a drain, however fast it is
 * @param shallow the small backlog of the comparison by depth, and the number of timed messages at every depth
 * @param deep the large backlog of that comparison; a fifth of the largest one
 * @param idle the number of messages that wait in a topic whose destination is down
 * @param blocked the number of messages that are blocked behind the heads of their keys
 * @param steady the duration of a load whose latency is measured
 * @param quiet the duration of the idle measurement
 * @param heap the number of messages for the small heap
 * @param isPatient whether systems that poll every few seconds, or take long, take part wherever possible
 * @param isBroad whether it has more than the main measurements, and the slower peers
 */
public record Scale(
        String name,
        Duration limit,
        int rounds,
        int otherRounds,
        int burdenRounds,
        Duration round,
        Duration warmUp,
        int firstBacklog,
        int smallestBacklog,
        int largestBacklog,
        int shallow,
        int deep,
        int idle,
        int blocked,
        Duration steady,
        Duration quiet,
        int heap,
        boolean isPatient,
        boolean isBroad) {

    /** For the aims, on a computer without other load. */
    public static Scale full() {
        return new Scale(
                "full",
                Duration.ofMinutes(65),
                5,
                3,
                4,
                Duration.ofSeconds(4),
                Duration.ofSeconds(4),
                30_000,
                200,
                1_200_000,
                100_000,
                1_000_000,
                300_000,
                100_000,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                1_000_000,
                true,
                true);
    }

    /** All figures, smaller in depth and heap: at most twenty minutes. */
    public static Scale standard() {
        return new Scale(
                "default",
                Duration.ofMinutes(18),
                3,
                2,
                4,
                Duration.ofSeconds(3),
                Duration.ofSeconds(2),
                20_000,
                200,
                900_000,
                50_000,
                100_000,
                50_000,
                50_000,
                Duration.ofSeconds(4),
                Duration.ofSeconds(10),
                50_000,
                false,
                true);
    }

    /** The main figures on PostgreSQL against the fast peers: at most six minutes. */
    public static Scale quick() {
        return new Scale(
                "quick",
                Duration.ofMinutes(5),
                2,
                2,
                4,
                Duration.ofSeconds(3),
                Duration.ofSeconds(1),
                20_000,
                200,
                900_000,
                50_000,
                50_000,
                20_000,
                20_000,
                Duration.ofSeconds(2),
                Duration.ofSeconds(6),
                30_000,
                false,
                false);
    }

    /** A few seconds: only tests that everything works. */
    public static Scale tiny() {
        return new Scale(
                "tiny",
                Duration.ofHours(1),
                1,
                1,
                1,
                Duration.ofMillis(100),
                Duration.ofMillis(10),
                300,
                100,
                300,
                100,
                300,
                100,
                100,
                Duration.ofMillis(200),
                Duration.ofMillis(200),
                100,
                false,
                true);
    }

    /** The same sizes, with another time for the run. */
    public Scale within(Duration other) {
        return new Scale(
                name,
                other,
                rounds,
                otherRounds,
                burdenRounds,
                round,
                warmUp,
                firstBacklog,
                smallestBacklog,
                largestBacklog,
                shallow,
                deep,
                idle,
                blocked,
                steady,
                quiet,
                heap,
                isPatient,
                isBroad);
    }

    double roundSeconds() {
        return round.toNanos() / 1e9;
    }

    double warmUpSeconds() {
        return warmUp.toNanos() / 1e9;
    }
}
