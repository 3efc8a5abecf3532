package dev.postrider.event;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.UUID;

/** Something that happened. Immutable. */
public sealed interface Event {

    /** A batch of messages was claimed. */
    record Fetched(TopicName topic, int count) implements Event {}

    /** Messages written on this node were taken over by it when they were committed, without a claim. */
    record HandedOver(TopicName topic, int count) implements Event {}

    /** A message was delivered, and the database knows. */
    record Delivered(Message message, int attempt, Duration took) implements Event {}

    /** An attempt failed; there will be another after the delay. */
    record Failed(Message message, int attempt, int maxAttempts, String error, Duration delay) implements Event {}

    /** A message became a dead letter. */
    record Buried(Message message, int attempt, int maxAttempts, String reason, String error) implements Event {}

    /** A message was given back without an attempt. */
    record Released(Message message) implements Event {}

    /** The outcome came too late: the lease had run out and another worker has the message. */
    record LeaseLost(Message message, int attempt) implements Event {}

    /** The outcome came too late: another worker, or an operator, has finished the message already. */
    record SkippedFinished(Message message, int attempt) implements Event {}

    /**
     * A message was not written because its key was used before. Told when that is found out; the transaction is still to be committed.
     *
     * @param firstId the message that was written first
     * @param samePayload false when the two have different payloads: two different events share a key, and this one is lost
     */
    record Duplicate(Message message, MessageId firstId, boolean samePayload) implements Event {}

    /** A consumer handled a received message. In a transaction of the caller's own, that is still to be committed. */
    record Processed(String consumer, Message message, Duration took) implements Event {}

    /** A received message was dropped because its consumer has had it before. */
    record DuplicateReceived(String consumer, Message message) implements Event {}

    /** A received message has the id of an earlier one and another payload; it was not handled. */
    record Collided(String consumer, Message message) implements Event {}

    /** A received message is too old to tell whether its consumer has had it; it was not handled. */
    record TooOldReceived(String consumer, Message message) implements Event {}

    /** Messages whose last allowed attempt ended with the worker lost became dead letters. */
    record Swept(TopicName topic, int count) implements Event {}

    /** Rows past their retention were removed. */
    record Purged(int archived, int dead, int keys, int inboxMarks) implements Event {}

    /** Messages appeared in a lane below the number up to which everything was believed to be read; they are delivered now. */
    record FoundLate(TopicName topic, int count) implements Event {}

    /** This node took lanes of an ordered topic, and holds so many now. */
    record LanesTaken(TopicName topic, int count, int held) implements Event {}

    /** Messages of a topic wait, and no live node delivered it when this one, which does not, started. */
    record NotDelivered(TopicName topic) implements Event {}

    /** This node gave back lanes of an ordered topic, and holds so many now. */
    record LanesReleased(TopicName topic, int count, int held) implements Event {}

    /** A message of an ordered topic, and with it its key, waits for an operator. It is no dead letter. */
    record Parked(Message message, int attempt, int maxAttempts, String reason, String error) implements Event {}

    /** A message of an ordered topic was not tried, because its key is held; it waits there. */
    record Blocked(Message message) implements Event {}

    /**
     * A message of an ordered topic was in the hands of so many nodes that were lost. It may have killed them: it is delivered now, and
     * nothing else by this node meanwhile.
     */
    record Suspected(Message message, int crashes) implements Event {}

    /**
     * A batch of outcomes was written.
     *
     * @param buried became dead letters
     * @param parked wait for an operator with the later messages of their keys, and are no dead letters
     */
    record Settled(int delivered, int failed, int buried, int parked, int released, int lost) implements Event {}

    /** So many deliveries in a row have failed that the topic is left alone on this node for a while. */
    record DestinationRests(TopicName topic, int failures, Duration pause, String error) implements Event {}

    /** A destination that was left alone answers again. */
    record DestinationBack(TopicName topic) implements Event {}

    /** The database could not be reached or refused; the dispatcher tries again after the delay. */
    record StoreFailed(String doing, String error, Duration delay) implements Event {}

    /** What this node did since the last summary; the words are those of {@link Settled}. */
    record Summary(long delivered, long failed, long buried, long parked, long lost, int inFlight, Duration period)
            implements Event {}

    /** A command was claimed and begins to run: the first time, or again after it failed. The key is in none of these events. */
    record CommandClaimed(String operation, UUID reference, int attempt) implements Event {}

    /** A command whose owner was taken for dead was taken over, and begins to run again. */
    record CommandTakenOver(String operation, UUID reference, int attempt) implements Event {}

    /** A command has ended, and the database knows. */
    record CommandCompleted(String operation, UUID reference, boolean rejected, Duration took) implements Event {}

    /** A command failed and was rolled back; it may be tried again. */
    record CommandFailed(String operation, UUID reference, int attempt, String error) implements Event {}

    /** A caller got the result of an earlier call. */
    record CommandReplayed(String operation, UUID reference) implements Event {}

    /** A caller was told that the command is in progress. */
    record CommandConflict(String operation) implements Event {}

    /** A key was used again for another request. */
    record CommandMismatch(String operation) implements Event {}

    /** An owner came too late: another one has the command, and what this one did in its transaction is rolled back. */
    record CommandLost(String operation, UUID reference) implements Event {}

    /** Nobody knows whether a command happened: a probe or an operator must say. */
    record CommandUncertain(String operation, UUID reference) implements Event {}

    /** Commands past their time: results dropped, rows removed, and lost ones called uncertain. */
    record CommandsSwept(int results, int removed, int uncertain) implements Event {}
}
