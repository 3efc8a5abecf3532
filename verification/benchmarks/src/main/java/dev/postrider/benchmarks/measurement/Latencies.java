package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;

/** Times from the confirmed commit to the arrival, in milliseconds. */
record Latencies(double p50, double p99) {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** A steady load on a delivering system with probed connections. The first fifth is not counted. */
    static Latencies of(Arena arena, Contender contender, double perSecond, Duration duration) throws Exception {
        contender.clear();
        return again(arena, contender, perSecond, duration);
    }

    /** As {@link #of(Arena, Contender, double, Duration)}, without emptying the tables. */
    static Latencies again(Arena arena, Contender contender, double perSecond, Duration duration) throws Exception {
        arena.settle();
        int capacity = (int) (perSecond * duration.toNanos() / 1e9) + 1;
        AtomicLongArray committed = new AtomicLongArray(capacity);
        Receiver receiver = new Receiver(capacity);
        contender.start(receiver);
        int messages;
        try {
            messages = Load.steady(
                    contender, perSecond, duration, number -> committed.set(number, Probe.lastCommitNanos()));
            receiver.await(messages, PATIENCE);
            Drain.awaitDone(contender);
        } finally {
            contender.stop();
        }
        receiver.verify(messages);
        double[] millis = new double[messages - messages / 5];
        for (int i = 0; i < millis.length; i++) {
            int number = messages / 5 + i;
            // After a local hand-over a message can arrive before the committing thread has read the clock.
            millis[i] = Math.max(receiver.arrivalOf(number) - committed.get(number), 0) / 1e6;
        }
        return of(millis);
    }

    static Latencies of(double[] millis) {
        Arrays.sort(millis);
        return new Latencies(millis[millis.length / 2], millis[(int) (millis.length * 0.99)]);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "p50 %.2f ms, p99 %.2f ms", p50, p99);
    }
}
