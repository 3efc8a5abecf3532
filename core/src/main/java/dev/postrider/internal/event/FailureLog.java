package dev.postrider.internal.event;

import static dev.postrider.internal.event.LogListener.named;
import static dev.postrider.internal.event.LogListener.value;

import dev.postrider.event.Event;
import dev.postrider.internal.Platform;
import dev.postrider.internal.event.FailureLimiter.Alike;
import dev.postrider.internal.event.FailureLimiter.CountedFailures;
import dev.postrider.internal.event.FailureLimiter.LimitDecision;
import dev.postrider.internal.event.FailureLimiter.LogLine;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failures at warn, as far as {@link FailureLimiter} allows, and their number. The first failure of a fingerprint
 * has the stack trace of its exception. At debug every failure has a line, with its stack trace. Thread-safe.
 */
final class FailureLog {

    private static final Logger log = LoggerFactory.getLogger(LogListener.LOGGER);

    private final Platform time;
    private final FailureLimiter limiter;

    FailureLog(Platform time) {
        this.time = time;
        this.limiter = new FailureLimiter(time);
    }

    void on(Event event) {
        if (!log.isWarnEnabled()) {
            return;
        }
        logCounted(event instanceof Event.Summary ? limiter.takeAll() : limiter.takeDue());
        if (event instanceof Event.Failed e) {
            Alike alike = new Alike(FailureKind.ATTEMPT, e.message().topic().toString(), e.fingerprint());
            failed(alike, e.error(), e.cause(), () -> line(e, alike));
        } else if (event instanceof Event.Buried e) {
            Alike alike = new Alike(FailureKind.DEAD, e.message().topic().toString(), e.fingerprint());
            failed(alike, e.error(), e.cause(), () -> line(e, alike));
        } else if (event instanceof Event.Parked e) {
            Alike alike = new Alike(FailureKind.PARKED, e.message().topic().toString(), e.fingerprint());
            failed(alike, e.error(), e.cause(), () -> line(e, alike));
        } else if (event instanceof Event.CommandFailed e) {
            Alike alike = new Alike(FailureKind.COMMAND, e.operation(), e.fingerprint());
            failed(alike, e.error(), null, () -> line(e, alike));
        }
    }

    private String line(Event.Failed e, Alike alike) {
        return alike.kind().line + " " + named(e.message())
                + " type=" + value(e.message().type())
                + " retry=" + e.attempt()
                + " max=" + e.maxAttempts()
                + " next=" + after(e.delay())
                + " delay_ms=" + e.delay().toMillis()
                + " fingerprint=" + alike.fingerprint()
                + " error=" + value(e.error());
    }

    /** By the clock of this node; the database decides by its own clock. */
    private String after(Duration delay) {
        return time.now().plus(delay).truncatedTo(ChronoUnit.MILLIS).toString();
    }

    private static String line(Event.Buried e, Alike alike) {
        return alike.kind().line + " " + named(e.message())
                + " type=" + value(e.message().type())
                + " retry=" + e.attempt()
                + " max=" + e.maxAttempts()
                + " reason=" + value(e.reason())
                + " fingerprint=" + alike.fingerprint()
                + " error=" + value(e.error());
    }

    private static String line(Event.Parked e, Alike alike) {
        return alike.kind().line + " " + named(e.message())
                + " type=" + value(e.message().type())
                + " attempt=" + e.attempt()
                + " max=" + e.maxAttempts()
                + " reason=" + value(e.reason())
                + " fingerprint=" + alike.fingerprint()
                + " error=" + value(e.error());
    }

    private static String line(Event.CommandFailed e, Alike alike) {
        return alike.kind().line + " op=" + value(e.operation())
                + " ref=" + e.reference()
                + " attempt=" + e.attempt()
                + " fingerprint=" + alike.fingerprint()
                + " error=" + value(e.error());
    }

    private void failed(Alike alike, String error, @Nullable Throwable cause, Supplier<String> line) {
        LimitDecision decision = limiter.decide(alike, head(error));
        logCounted(decision.counted());
        boolean everyTrace = log.isDebugEnabled();
        if (decision.line() == LogLine.FIRST || (decision.line() == LogLine.ANOTHER && everyTrace)) {
            log.warn(line.get(), trace(cause));
        } else if (decision.line() == LogLine.ANOTHER) {
            log.warn(line.get());
        } else if (everyTrace) {
            log.debug(line.get(), trace(cause));
        }
    }

    /** The part of an error that a line can show. More is not kept. */
    private static String head(String error) {
        return error.length() <= LogListener.VALUE_LIMIT ? error : error.substring(0, LogListener.VALUE_LIMIT);
    }

    private static @Nullable Throwable trace(@Nullable Throwable cause) {
        return cause == null ? null : LoggedException.copyOf(cause);
    }

    private static void logCounted(List<CountedFailures> counted) {
        for (CountedFailures failures : counted) {
            Alike alike = failures.alike();
            if (alike.fingerprint().isEmpty()) {
                log.warn(
                        "{} \"... and {} more of other kinds\" count={}",
                        alike.kind().more,
                        failures.count(),
                        failures.count());
            } else {
                log.warn(
                        "{} \"... and {} more like it\" count={} {}={} fingerprint={} error={}",
                        alike.kind().more,
                        failures.count(),
                        failures.count(),
                        alike.kind().subject,
                        value(alike.subject()),
                        alike.fingerprint(),
                        value(failures.error()));
            }
        }
    }
}
