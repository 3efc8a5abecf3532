package dev.postrider.torture;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process's journal: lines in a file that outlives the process. A line is one write call: when the call returns, the line is in the
 * file, even if this process dies afterwards. Thread-safe.
 */
final class Journal implements AutoCloseable {

    /** How far this process's clock was set forward on purpose. Journal times are corrected by it. */
    static final String SKEW = "postrider.torture.skew.micros";

    /** Whether this process's clock is set on purpose later. Then journal times are the start time plus the monotonic time since. */
    static final String STEADY = "postrider.torture.steady";

    private static final long SKEW_MICROS = Long.getLong(SKEW, 0);
    private static final boolean IS_STEADY = Boolean.getBoolean(STEADY);

    @SuppressWarnings("TimeInStaticInitializer") // read before the clock is set
    private static final long BEGIN_MICROS = micros(Instant.now());

    private static final long BEGIN_NANOS = System.nanoTime();

    private final FileOutputStream out;

    private Journal(FileOutputStream out) {
        this.out = out;
    }

    static Journal at(Path file) {
        try {
            return new Journal(new FileOutputStream(file.toFile(), true));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Microseconds since the epoch by the real clock of the computer. */
    static long now() {
        return IS_STEADY
                ? BEGIN_MICROS + (System.nanoTime() - BEGIN_NANOS) / 1000
                : micros(Instant.now()) - SKEW_MICROS;
    }

    static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** @param namesAndValues names and values alternately; a value is written as its text, null as an empty text */
    void write(String event, @Nullable Object... namesAndValues) {
        StringBuilder line = new StringBuilder(200);
        line.append(now()).append('\t').append(event);
        for (int i = 0; i < namesAndValues.length; i += 2) {
            line.append('\t').append(namesAndValues[i]).append('=').append(encoded(namesAndValues[i + 1]));
        }
        write(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
    }

    private synchronized void write(byte[] line) {
        try {
            out.write(line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String encoded(@Nullable Object value) {
        return value == null ? "" : URLEncoder.encode(value.toString(), StandardCharsets.UTF_8);
    }

    @Override
    public synchronized void close() {
        try {
            out.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
