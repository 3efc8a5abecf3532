package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.contender.StageTimes;
import dev.postrider.benchmarks.database.Probe;

/**
 * The times of one message, by {@link System#nanoTime}.
 *
 * @param staged whether the times between commit and reception, and that of the outcome, are known
 */
record TracedMessage(Probe.Commit commit, boolean staged, long read, long called, long received, long written) {

    /** A stage on the way of a message, as readers of the report know it. */
    enum Stage {
        COMMIT("commit", true),
        READ("wake-up and read", true),
        CALL("to the transport", true),
        RECEIVE("to the receiver", true),
        DELIVERY("commit to receiver", false),
        OUTCOME("outcome written", true);

        private final String displayName;

        /** Whether it is one stage, and not the sum of some. */
        private final boolean single;

        Stage(String displayName, boolean single) {
            this.displayName = displayName;
            this.single = single;
        }

        String displayName() {
            return displayName;
        }

        boolean isSingle() {
            return single;
        }
    }

    static TracedMessage of(int number, Probe.Commit commit, Receiver receiver) {
        long received = receiver.arrivalOf(number);
        StageTimes stages = receiver.stages();
        if (stages == null || stages.writtenOf(number) == 0) {
            return new TracedMessage(commit, false, 0, 0, received, 0);
        }
        return new TracedMessage(
                commit, true, stages.readOf(number), stages.calledOf(number), received, stages.writtenOf(number));
    }

    /**
     * The duration of a stage. After a local hand-over a message is read before the commit, and can be received before the committing
     * thread reads the clock: then the stage takes no time.
     */
    double millis(Stage stage) {
        long committed = commit.confirmed();
        return switch (stage) {
            case COMMIT -> millis(commit.sent(), committed);
            case READ -> millis(committed, read);
            case CALL -> millis(Math.max(committed, read), called);
            case RECEIVE -> millis(Math.max(committed, called), received);
            case DELIVERY -> millis(committed, received);
            case OUTCOME -> millis(received, written);
        };
    }

    /** From the answer of the commit to the reception. */
    double deliveryMillis() {
        return millis(Stage.DELIVERY);
    }

    private static double millis(long from, long to) {
        return Math.max(to - from, 0) / 1e6;
    }

    double delayedMillis(Stalls stalls) {
        return stalls.delayedMillis(commit.confirmed(), received);
    }

    double pausedMillis(Stalls stalls) {
        return stalls.pausedMillis(commit.confirmed(), received);
    }

    /** Whether the control stood still for at least half of the time from the commit to the reception. */
    boolean isStalled(Stalls stalls) {
        return Math.max(delayedMillis(stalls), pausedMillis(stalls)) >= deliveryMillis() / 2;
    }
}
