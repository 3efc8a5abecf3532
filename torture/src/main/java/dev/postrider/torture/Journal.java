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
 * What a process has to say, line by line, in a file that outlives it. A line is one write: when the call returns it is in the file,
 * whatever becomes of this process. Thread-safe.
 */
final class Journal implements AutoCloseable {

    /** How far this process's clock was put forward on purpose, so that its lines have the machine's time all the same. */
    static final String SKEW = "postrider.torture.skew.micros";

    /** Whether this process's clock is going to be set on purpose: then its lines have the time since it began added to that. */
    static final String STEADY = "postrider.torture.steady";

    private static final long SKEW_MICROS = Long.getLong(SKEW, 0);
    private static final boolean IS_STEADY = Boolean.getBoolean(STEADY);

    @SuppressWarnings("TimeInStaticInitializer") // before anybody sets the clock
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

    /** Microseconds since the epoch by the machine's clock. */
    static long now() {
        return IS_STEADY
                ? BEGIN_MICROS + (System.nanoTime() - BEGIN_NANOS) / 1000
                : micros(Instant.now()) - SKEW_MICROS;
    }

    static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /** @param namesAndValues names and values in turn; a value is written as its text, and null as none */
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
