package dev.postrider.event;

import dev.postrider.internal.ErrorText;
import dev.postrider.message.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events to the log, one line each, with stable prefixes and {@code key=value} fields: single messages at debug, batches
 * and summaries at info, what an operator should look at, at warn. Nothing a message holds can break a line. Thread-safe.
 */
public final class LogListener implements EventListener {

    /** The logger's name, to be used in logging configurations. */
    public static final String LOGGER = "dev.postrider.outbox";

    private static final Logger log = LoggerFactory.getLogger(LOGGER);

    private static final int VALUE_LIMIT = 500;

    @Override
    public void on(Event event) {
        if (event instanceof Event.Delivered e) {
            if (log.isDebugEnabled()) {
                log.debug(
                        "OUTBOX_WORKER_DISPATCH_SUCCESS {} attempt={} took_ms={}",
                        named(e.message()),
                        e.attempt(),
                        e.took().toMillis());
            }
        } else if (event instanceof Event.Failed e) {
            log.debug(
                    "OUTBOX_WORKER_DISPATCH_FAIL {} retry={} max={} delay_ms={} error={}",
                    named(e.message()),
                    e.attempt(),
                    e.maxAttempts(),
                    e.delay().toMillis(),
                    value(e.error()));
        } else if (event instanceof Event.Buried e) {
            log.warn(
                    "OUTBOX_WORKER_DEAD {} retry={} max={} reason={} error={}",
                    named(e.message()),
                    e.attempt(),
                    e.maxAttempts(),
                    e.reason(),
                    value(e.error()));
        } else if (event instanceof Event.Duplicate e) {
            log.debug(
                    "OUTBOX_WORKER_DUPLICATE tenant={} key={}",
                    value(String.valueOf(e.message().tenant())),
                    value(e.message().effectiveKey()));
        } else if (event instanceof Event.LeaseLost e) {
            log.warn("OUTBOX_WORKER_LEASE_LOST {} attempt={}", named(e.message()), e.attempt());
        } else if (event instanceof Event.SkippedFinished e) {
            log.warn("OUTBOX_WORKER_SKIP_PROCESSED id={}", e.message().id());
        } else if (event instanceof Event.Released e) {
            log.debug("OUTBOX_WORKER_RELEASE {}", named(e.message()));
        } else {
            onBatch(event);
        }
    }

    private static void onBatch(Event event) {
        if (event instanceof Event.Fetched e) {
            log.info("OUTBOX_WORKER_FETCH topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.Settled e) {
            log.info(
                    "OUTBOX_WORKER_SETTLE delivered={} failed={} dead={} released={} lost={}",
                    e.delivered(),
                    e.failed(),
                    e.buried(),
                    e.released(),
                    e.lost());
        } else if (event instanceof Event.Swept e) {
            log.warn("OUTBOX_WORKER_SWEEP topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.Purged e) {
            log.info("OUTBOX_WORKER_PURGE archived={} dead={} keys={}", e.archived(), e.dead(), e.keys());
        } else if (event instanceof Event.StoreFailed e) {
            log.warn(
                    "OUTBOX_WORKER_STORE_FAIL doing={} retry_ms={} error={}",
                    e.doing(),
                    e.delay().toMillis(),
                    value(e.error()));
        } else if (event instanceof Event.Summary e) {
            log.info(
                    "OUTBOX_WORKER_SUMMARY delivered={} failed={} dead={} lost={} in_flight={} period_s={}",
                    e.delivered(),
                    e.failed(),
                    e.buried(),
                    e.lost(),
                    e.inFlight(),
                    e.period().toSeconds());
        }
    }

    private static String named(Message message) {
        return "id=" + message.id() + " key=" + value(message.effectiveKey()) + " topic=" + message.topic();
    }

    /** Quoted when it has blanks, so that the next field is not taken for a part of it. */
    private static String value(String text) {
        String clean = ErrorText.clean(text, VALUE_LIMIT);
        return clean.indexOf(' ') < 0 && clean.indexOf('"') < 0 && !clean.isEmpty()
                ? clean
                : '"' + clean.replace("\"", "'") + '"';
    }
}
