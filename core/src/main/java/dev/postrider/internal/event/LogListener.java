package dev.postrider.internal.event;

import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.Platform;
import dev.postrider.message.Message;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs each event as one line with a stable prefix and {@code key=value} fields. Events of single messages are logged
 * at debug, batches and summaries at info. Failed attempts, dead letters and parked messages are logged at warn, with a
 * limit for failures that are alike ({@link FailureLog}). Batches with dead letters, parked messages or lost leases are
 * logged at warn too, and so are other events that need an operator. Content of messages cannot break a log line.
 * Thread-safe.
 */
public final class LogListener implements EventListener {

    /** The name of the logger, for logging configurations. */
    public static final String LOGGER = "dev.postrider.outbox";

    private static final Logger log = LoggerFactory.getLogger(LOGGER);

    /** The limit of one value in a line, and of a message in a stack trace. */
    static final int VALUE_LIMIT = 500;

    private final FailureLog failures;

    public LogListener() {
        this(Platform.system());
    }

    LogListener(Platform platform) {
        this.failures = new FailureLog(platform);
    }

    @Override
    public void on(Event event) {
        failures.on(event);
        if (log.isDebugEnabled()) {
            onMessage(event);
        }
        onBatch(event);
        onOperation(event);
        onTrouble(event);
    }

    private static void onMessage(Event event) {
        if (event instanceof Event.Delivered e) {
            log.debug(
                    "OUTBOX_WORKER_DISPATCH_SUCCESS {} attempt={} took_ms={}",
                    named(e.message()),
                    e.attempt(),
                    e.took().toMillis());
        } else if (event instanceof Event.LeaseLost e) {
            log.debug("OUTBOX_WORKER_LEASE_LOST {} attempt={}", named(e.message()), e.attempt());
        } else if (event instanceof Event.AlreadyFinished e) {
            log.debug("OUTBOX_WORKER_SKIP_PROCESSED id={}", e.message().id());
        } else if (event instanceof Event.Blocked e) {
            log.debug("OUTBOX_WORKER_BLOCK {}", named(e.message()));
        } else if (event instanceof Event.Suspected e) {
            log.debug("OUTBOX_WORKER_SUSPECT {} crashes={}", named(e.message()), e.crashes());
        } else if (event instanceof Event.Processed e) {
            log.debug(
                    "INBOX_PROCESS consumer={} {} took_ms={}",
                    e.consumer(),
                    named(e.message()),
                    e.took().toMillis());
        } else if (event instanceof Event.DuplicateReceived e) {
            log.debug("INBOX_DUPLICATE consumer={} {}", e.consumer(), named(e.message()));
        } else if (event instanceof Event.Released e) {
            log.debug("OUTBOX_WORKER_RELEASE {}", named(e.message()));
        } else if (event instanceof Event.Expired e) {
            log.debug(
                    "OUTBOX_WORKER_EXPIRE {} expired_at={} attempts={} removed={}",
                    named(e.message()),
                    e.message().expiresAt(),
                    e.attempts(),
                    e.removed());
        } else {
            onCommand(event);
        }
    }

    private static void onCommand(Event event) {
        if (event instanceof Event.CommandClaimed e) {
            log.debug("COMMAND_CLAIM op={} ref={} attempt={}", value(e.operation()), e.reference(), e.attempt());
        } else if (event instanceof Event.CommandCompleted e) {
            log.debug(
                    "COMMAND_COMPLETE op={} ref={} rejected={} took_ms={}",
                    value(e.operation()),
                    e.reference(),
                    e.rejected(),
                    e.took().toMillis());
        } else if (event instanceof Event.CommandReplayed e) {
            log.debug("COMMAND_REPLAY op={} ref={}", value(e.operation()), e.reference());
        } else if (event instanceof Event.CommandConflict e) {
            log.debug("COMMAND_CONFLICT op={}", value(e.operation()));
        } else if (event instanceof Event.CommandMismatch e) {
            log.debug("COMMAND_MISMATCH op={}", value(e.operation()));
        }
    }

    /** Not at debug: the log is the only report of a staged message that was not written. */
    private static void onDuplicate(Event.Duplicate event) {
        String tenant = event.message().tenant();
        log.atLevel(event.samePayload() ? Level.INFO : Level.WARN)
                .log(
                        "OUTBOX_WORKER_DUPLICATE tenant={} key={} topic={} first={} same_payload={}",
                        value(tenant == null ? "" : tenant),
                        value(event.message().effectiveKey()),
                        event.message().topic(),
                        event.firstId(),
                        event.samePayload());
    }

    private static void onBatch(Event event) {
        if (event instanceof Event.Duplicate e) {
            onDuplicate(e);
        } else if (event instanceof Event.Fetched e) {
            log.info("OUTBOX_WORKER_FETCH topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.HandedOver e) {
            log.debug("OUTBOX_WORKER_HAND_OVER topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.LanesAcquired e) {
            log.info("OUTBOX_WORKER_LANES_ACQUIRED topic={} count={} owned={}", e.topic(), e.count(), e.owned());
        } else if (event instanceof Event.LanesReleased e) {
            log.info("OUTBOX_WORKER_LANES_RELEASED topic={} count={} owned={}", e.topic(), e.count(), e.owned());
        } else if (event instanceof Event.Settled e) {
            log.atLevel(e.buried() + e.parked() + e.lost() > 0 ? Level.WARN : Level.INFO)
                    .log(
                            "OUTBOX_WORKER_SETTLE delivered={} failed={} dead={} parked={} expired={} released={} lost={}",
                            e.delivered(),
                            e.failed(),
                            e.buried(),
                            e.parked(),
                            e.expired(),
                            e.released(),
                            e.lost());
        } else if (event instanceof Event.Purged e) {
            log.info(
                    "OUTBOX_WORKER_PURGE archived={} dead={} keys={} inbox_marks={}",
                    e.archived(),
                    e.dead(),
                    e.keys(),
                    e.inboxMarks());
        } else if (event instanceof Event.Summary e) {
            log.info(
                    "OUTBOX_WORKER_SUMMARY delivered={} failed={} dead={} parked={} expired={} lost={} in_flight={} period_s={}",
                    e.delivered(),
                    e.failed(),
                    e.buried(),
                    e.parked(),
                    e.expired(),
                    e.lost(),
                    e.inFlight(),
                    e.period().toSeconds());
        }
    }

    private static void onOperation(Event event) {
        if (event instanceof Event.OperationStarted e) {
            log.info("OUTBOX_WORKER_OPERATION_START {}", described(e.operation()));
        } else if (event instanceof Event.OperationAdvanced e) {
            log.atLevel(e.operation().error() == null ? Level.DEBUG : Level.WARN)
                    .log("OUTBOX_WORKER_OPERATION_PROGRESS {}", described(e.operation()));
        } else if (event instanceof Event.OperationEnded e) {
            log.atLevel(e.operation().state() == OperationState.FAILED ? Level.WARN : Level.INFO)
                    .log("OUTBOX_WORKER_OPERATION_END {}", described(e.operation()));
        }
    }

    private static String described(Operation operation) {
        String error = operation.error();
        return "id=" + operation.id() + " action=" + operation.action() + " state=" + operation.state() + " changed="
                + operation.changed() + " skipped=" + operation.skipped() + " operator="
                + value(operation.terms().operator())
                + (error == null ? "" : " error=" + value(error));
    }

    private static void onTrouble(Event event) {
        if (event instanceof Event.Swept e) {
            log.warn("OUTBOX_WORKER_SWEEP topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.NotDelivered e) {
            log.warn("OUTBOX_WORKER_NOT_DELIVERED topic={}", e.topic());
        } else if (event instanceof Event.FoundLate e) {
            log.warn("OUTBOX_WORKER_FOUND_LATE topic={} count={}", e.topic(), e.count());
        } else if (event instanceof Event.CircuitOpened e) {
            log.warn(
                    "OUTBOX_WORKER_CIRCUIT_OPEN topic={} failures={} pause_ms={} error={}",
                    e.topic(),
                    e.failures(),
                    e.pause().toMillis(),
                    value(e.error()));
        } else if (event instanceof Event.CircuitClosed e) {
            log.info("OUTBOX_WORKER_CIRCUIT_CLOSED topic={}", e.topic());
        } else if (event instanceof Event.Collided e) {
            log.warn("INBOX_COLLISION consumer={} {}", e.consumer(), named(e.message()));
        } else if (event instanceof Event.TooOldReceived e) {
            log.warn("INBOX_TOO_OLD consumer={} {}", e.consumer(), named(e.message()));
        } else if (event instanceof Event.Unhandled e) {
            log.warn(
                    "INBOX_NO_HANDLER consumer={} {} type={}",
                    e.consumer(),
                    named(e.message()),
                    value(e.message().type()));
        } else if (event instanceof Event.CommandTakenOver e) {
            log.warn("COMMAND_TAKE_OVER op={} ref={} attempt={}", value(e.operation()), e.reference(), e.attempt());
        } else if (event instanceof Event.CommandLost e) {
            log.warn("COMMAND_LOST op={} ref={}", value(e.operation()), e.reference());
        } else if (event instanceof Event.CommandUncertain e) {
            log.warn("COMMAND_UNCERTAIN op={} ref={}", value(e.operation()), e.reference());
        } else if (event instanceof Event.CommandsSwept e) {
            log.atLevel(e.uncertain() > 0 ? Level.WARN : Level.INFO)
                    .log("COMMAND_SWEEP results={} removed={} uncertain={}", e.results(), e.removed(), e.uncertain());
        } else if (event instanceof Event.StoreFailed e) {
            log.warn(
                    "OUTBOX_WORKER_STORE_FAIL doing={} retry_ms={} error={}",
                    value(e.doing()),
                    e.delay().toMillis(),
                    value(e.error()));
        }
    }

    static String named(Message message) {
        return "id=" + message.id() + " key=" + value(message.effectiveKey()) + " topic=" + message.topic();
    }

    /** Quotes a value that contains spaces, so that the next field stays separate. */
    static String value(String text) {
        String clean = ErrorText.clean(text, VALUE_LIMIT);
        return clean.indexOf(' ') < 0 && clean.indexOf('"') < 0 && !clean.isEmpty()
                ? clean
                : '"' + clean.replace("\"", "'") + '"';
    }
}
