package dev.postrider.event;

import dev.postrider.admin.Operation;
import dev.postrider.admin.Sample;
import dev.postrider.internal.ErrorText;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event of a Postrider, such as a delivery or a lost lease, sent to every {@link EventListener}. Immutable.
 *
 * <p>Error texts in events are one line without control characters. Text that looks like a password or token is redacted.
 * The cause of a failure is the exception that a handler or a transport threw, unchanged: its messages may contain
 * secrets. {@code toString} shows only its class.
 */
public sealed interface Event {

    /** A batch of messages was claimed. */
    record Fetched(TopicName topic, int count) implements Event {}

    /** This node got messages by local hand-over: they were inserted with its lease and need no claim. */
    record HandedOver(TopicName topic, int count) implements Event {}

    /** A message was delivered, and its outcome is written to the database. */
    record Delivered(Message message, int attempt, Duration took) implements Event {}

    /**
     * An attempt failed. The next attempt follows after the delay.
     *
     * @param cause the exception of the handler or the transport; null if there was none, as for a status code
     */
    record Failed(
            Message message,
            int attempt,
            int maxAttempts,
            String error,
            Duration delay,
            @Nullable Throwable cause) implements Event {
        public Failed {
            error = ErrorText.clean(error);
        }

        /** Returns a fingerprint. It is equal for errors that differ only in numbers and ids. */
        public String fingerprint() {
            return ErrorText.fingerprint("FAILED", error);
        }

        @Override
        public String toString() {
            return "Failed[message=" + message + ", attempt=" + attempt + ", maxAttempts=" + maxAttempts + ", error="
                    + error + ", delay=" + delay + ", cause=" + className(cause) + "]";
        }
    }

    /**
     * A message became a dead letter.
     *
     * @param cause the exception of the handler or the transport; null if there was none, as for a status code
     */
    record Buried(
            Message message,
            int attempt,
            int maxAttempts,
            String reason,
            String error,
            @Nullable Throwable cause) implements Event {
        public Buried {
            error = ErrorText.clean(error);
        }

        /**
         * Returns a fingerprint. It is equal for errors that differ only in numbers and ids, and equal to the stored
         * fingerprint of the message if the error is not longer than {@code error-limit}.
         */
        public String fingerprint() {
            return ErrorText.fingerprint(reason, error);
        }

        @Override
        public String toString() {
            return "Buried[message=" + message + ", attempt=" + attempt + ", maxAttempts=" + maxAttempts + ", reason="
                    + reason + ", error=" + error + ", cause=" + className(cause) + "]";
        }
    }

    /**
     * A message was not delivered before its {@code expiresAt}. It is a dead letter with the reason {@code EXPIRED}, or
     * removed.
     *
     * @param attempts the number of attempts that were made before
     * @param removed whether the message was removed
     */
    record Expired(Message message, int attempts, boolean removed) implements Event {}

    /** A message was released without an attempt. */
    record Released(Message message) implements Event {}

    /** The outcome came too late: the lease has expired and another node has claimed the message. */
    record LeaseLost(Message message, int attempt) implements Event {}

    /** The outcome came too late: another node or an operator has already finished the message. */
    record AlreadyFinished(Message message, int attempt) implements Event {}

    /**
     * A message was not written because its key was already used. The event is sent before the transaction commits.
     *
     * @param firstId the message that was written first
     * @param samePayload false when the payloads differ: two different events share a key, and this one is lost
     */
    record Duplicate(Message message, MessageId firstId, boolean samePayload) implements Event {}

    /**
     * A consumer handled a received message. When the caller owns the transaction, the event is sent before the
     * commit.
     */
    record Processed(String consumer, Message message, Duration took) implements Event {}

    /** A received message was dropped because its consumer has already received it. */
    record DuplicateReceived(String consumer, Message message) implements Event {}

    /** A received message has the id of an earlier message and another payload. It was not handled. */
    record Collided(String consumer, Message message) implements Event {}

    /** A received message is older than the kept marks, so a duplicate cannot be detected. It was not handled. */
    record TooOldReceived(String consumer, Message message) implements Event {}

    /**
     * A durable inbox received a message without a matching handler. It was stored as a dead letter of the consumer.
     */
    record Unhandled(String consumer, Message message) implements Event {}

    /** Messages became dead letters because the node was lost during their last allowed attempt. */
    record Swept(TopicName topic, int count) implements Event {}

    /** Rows past their retention were removed. */
    record Purged(int archived, int dead, int keys, int inboxMarks) implements Event {}

    /** Messages appeared in a lane below a position that was considered completely read. They are delivered now. */
    record FoundLate(TopicName topic, int count) implements Event {}

    /**
     * This node acquired lanes of an ordered topic.
     *
     * @param count the number of acquired lanes
     * @param owned the number of lanes of the topic that this node owns now
     */
    record LanesAcquired(TopicName topic, int count, int owned) implements Event {}

    /**
     * A topic has undelivered messages and no live node. The event is sent by a node that does not deliver the topic,
     * when it starts.
     */
    record NotDelivered(TopicName topic) implements Event {}

    /**
     * This node released lanes of an ordered topic.
     *
     * @param count the number of released lanes
     * @param owned the number of lanes of the topic that this node owns now
     */
    record LanesReleased(TopicName topic, int count, int owned) implements Event {}

    /**
     * A message of an ordered topic was parked. The message and its key wait for an operator. It is not a dead
     * letter.
     *
     * @param cause the exception of the handler or the transport; null if there was none, as for a status code
     */
    record Parked(
            Message message,
            int attempt,
            int maxAttempts,
            String reason,
            String error,
            @Nullable Throwable cause) implements Event {
        public Parked {
            error = ErrorText.clean(error);
        }

        /** Returns a fingerprint, as {@link Buried#fingerprint} does. */
        public String fingerprint() {
            return ErrorText.fingerprint(reason, error);
        }

        @Override
        public String toString() {
            return "Parked[message=" + message + ", attempt=" + attempt + ", maxAttempts=" + maxAttempts + ", reason="
                    + reason + ", error=" + error + ", cause=" + className(cause) + "]";
        }
    }

    /** A message of an ordered topic was not attempted because its key is blocked. It waits behind the head. */
    record Blocked(Message message) implements Event {}

    /**
     * A suspect is about to be delivered: it was in flight on several lost nodes and may have caused their loss. It
     * is delivered as the only suspect of its topic on this node, and from the third loss on with nothing else in
     * flight.
     *
     * @param crashes the number of lost nodes on which the message was in flight
     */
    record Suspected(Message message, int crashes) implements Event {}

    /**
     * A batch of outcomes was written.
     *
     * @param buried messages that became dead letters
     * @param parked messages that wait for an operator, together with the later messages of their keys; they are not
     *     dead letters
     * @param expired messages that expired before they were delivered: dead letters, or removed
     * @param lost outcomes that came after the loss of the lease
     */
    record Settled(int delivered, int failed, int buried, int parked, int expired, int released, int lost)
            implements Event {}

    /**
     * The circuit breaker of a topic opened on this node, after a number of failed deliveries in a row.
     *
     * @param pause how long this node delivers nothing to the topic's destination
     */
    record CircuitOpened(TopicName topic, int failures, Duration pause, String error) implements Event {
        public CircuitOpened {
            error = ErrorText.clean(error);
        }
    }

    /** The circuit breaker of a topic closed on this node, because its destination accepts deliveries again. */
    record CircuitClosed(TopicName topic) implements Event {}

    /**
     * The database could not be reached or rejected a statement, or the cipher of messages was not available. The
     * operation is retried after the delay.
     */
    record StoreFailed(String doing, String error, Duration delay) implements Event {
        public StoreFailed {
            error = ErrorText.clean(error);
        }
    }

    /**
     * The counts of this node since the last summary. The names are those of {@link Settled}. A node sends one in each
     * housekeeping interval, and one for the rest when it stops.
     */
    record Summary(
            long delivered,
            long failed,
            long buried,
            long parked,
            long expired,
            long lost,
            int inFlight,
            Duration period)
            implements Event {}

    /**
     * A sample of the database was taken, by this node or by another one.
     *
     * @param node what this node is doing
     * @param interval the time between two of these events
     */
    record Sampled(Sample sample, NodeLoad node, Duration interval) implements Event {}

    /** This node has begun a background operation, and has made its first step. */
    record OperationStarted(Operation operation) implements Event {}

    /** This node has made steps of a background operation, at most once a second for each, or a step has failed. */
    record OperationAdvanced(Operation operation) implements Event {}

    /** This node has made the last step of a background operation. An operator's cancellation is no event. */
    record OperationEnded(Operation operation) implements Event {}

    /**
     * A command was claimed and starts to run, for the first time or again after a failure. No event contains a
     * command's key.
     */
    record CommandClaimed(String operation, UUID reference, int attempt) implements Event {}

    /** A command whose lease had expired was taken over, and starts to run again. */
    record CommandTakenOver(String operation, UUID reference, int attempt) implements Event {}

    /** A command was completed or rejected, and its outcome is written to the database. */
    record CommandCompleted(String operation, UUID reference, boolean rejected, Duration took) implements Event {}

    /** A command failed and was rolled back. It can be run again. */
    record CommandFailed(String operation, UUID reference, int attempt, String error) implements Event {
        public CommandFailed {
            error = ErrorText.clean(error);
        }

        /** Returns a fingerprint. It is equal for errors that differ only in numbers and ids. */
        public String fingerprint() {
            return ErrorText.fingerprint("FAILED", error);
        }
    }

    /** A caller got the stored result of an earlier call. */
    record CommandReplayed(String operation, UUID reference) implements Event {}

    /** A caller was answered that the command is in progress. */
    record CommandConflict(String operation) implements Event {}

    /** A key was used again with a different request. */
    record CommandMismatch(String operation) implements Event {}

    /** An owner lost its command to another owner. The changes of its transaction are rolled back. */
    record CommandLost(String operation, UUID reference) implements Event {}

    /** A command became uncertain. A probe or an operator must resolve it. */
    record CommandUncertain(String operation, UUID reference) implements Event {}

    /**
     * Expired commands were purged.
     *
     * @param results the number of dropped results
     * @param removed the number of removed rows
     * @param uncertain the number of commands with a lost owner that became uncertain
     */
    record CommandsSwept(int results, int removed, int uncertain) implements Event {}

    private static String className(@Nullable Throwable cause) {
        return cause == null ? "none" : cause.getClass().getName();
    }
}
