package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.MachineLoad;
import dev.postrider.benchmarks.database.Probe;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * The messages of a steady load, and the control that ran beside it. Latency is the time from the confirmed commit to the arrival.
 *
 * @param processors who used the processors
 * @param began the start of the load, by {@link System#nanoTime}
 */
record Latencies(List<TracedMessage> messages, Stalls stalls, String processors, long began) {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    Latencies {
        messages = List.copyOf(messages);
    }

    /** A steady load on a delivering system with probed connections. The first fifth is not counted. */
    static Latencies of(Arena arena, Contender contender, double perSecond, Duration duration) throws Exception {
        contender.clear();
        return again(arena, contender, perSecond, duration);
    }

    /** As {@link #of(Arena, Contender, double, Duration)}, without emptying the tables. */
    static Latencies again(Arena arena, Contender contender, double perSecond, Duration duration) throws Exception {
        arena.settle();
        int capacity = (int) (perSecond * duration.toNanos() / 1e9) + 1;
        AtomicReferenceArray<Probe.Commit> committed = new AtomicReferenceArray<>(capacity);
        Receiver receiver = Receiver.withStages(capacity);
        int messages;
        Stalls stalls;
        String processors;
        long began;
        contender.start(receiver);
        try (StallWatch watch = new StallWatch()) {
            MachineLoad before = MachineLoad.now();
            began = System.nanoTime();
            messages = Load.steady(contender, perSecond, duration, number -> committed.set(number, Probe.lastCommit()));
            receiver.await(messages, PATIENCE);
            processors = MachineLoad.now().since(before);
            Drain.awaitDone(contender);
            stalls = watch.stalls();
        } finally {
            contender.stop();
        }
        receiver.verify(messages);
        List<TracedMessage> counted = IntStream.range(messages / 5, messages)
                .mapToObj(number -> TracedMessage.of(number, committed.get(number), receiver))
                .toList();
        return new Latencies(counted, stalls, processors, began);
    }

    double p50() {
        return percentile(0.5);
    }

    double p99() {
        return percentile(0.99);
    }

    double max() {
        return percentile(1);
    }

    private double percentile(double part) {
        return percentile(
                messages.stream().mapToDouble(TracedMessage::deliveryMillis).toArray(), part);
    }

    static double percentile(double[] values, double part) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.min((int) (sorted.length * part), sorted.length - 1)];
    }

    /** The messages that took at least as long as the 99th percentile. */
    List<TracedMessage> slowest() {
        double bound = p99();
        return messages.stream()
                .filter(message -> message.deliveryMillis() >= bound)
                .toList();
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "p50 %.2f ms, p99 %.2f ms, max %.1f ms; control late by %.1f ms at most",
                p50(),
                p99(),
                max(),
                stalls.longestDelayMillis());
    }
}
