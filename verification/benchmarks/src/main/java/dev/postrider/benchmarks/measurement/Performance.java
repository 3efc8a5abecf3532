package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.database.ProcessorTime;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a system did in a round.
 *
 * @param perSecond its rate in messages or transactions
 * @param seconds the time in which that was measured
 * @param perItem the processor time of each; null if the server's cannot be read
 */
record Performance(
        double perSecond, double seconds, @Nullable ProcessorTime perItem) {

    double micros() {
        return read().micros();
    }

    double clientMicros() {
        return read().clientMicros();
    }

    private ProcessorTime read() {
        if (perItem == null) {
            throw new IllegalStateException("The processor time of the server cannot be read");
        }
        return perItem;
    }

    @Override
    public String toString() {
        String rate = String.format(Locale.ROOT, "%,.0f/s for %.1f s", perSecond, seconds);
        return perItem == null
                ? rate
                : rate
                        + String.format(
                                Locale.ROOT,
                                ", %.1f µs each (client %.1f + server %.1f)",
                                perItem.micros(),
                                perItem.clientMicros(),
                                perItem.serverMicros());
    }
}
