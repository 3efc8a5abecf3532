package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * For operators: what is there, and how to mend it. Every change is recorded with the name of who made it. Thread-safe. Throws
 * {@link dev.postrider.error.StoreException} when the database fails.
 */
public interface Admin {

    /** Every registered topic, by name; a removed one only if it has messages. Counts rows: meant for people and for a look every few seconds, not for a hot path. */
    List<TopicStatus> status();

    /**
     * Dead letters of a topic, the oldest first.
     *
     * @param afterSeq the number of the last one seen, to go on from; 0 to begin
     */
    List<StoredMessage> deadLetters(TopicName topic, long afterSeq, int limit);

    /** The message, wherever it is: waiting, being processed, dead, or delivered and still in the archive. */
    Optional<StoredMessage> find(MessageId id);

    /**
     * Keys of an ordered topic that do not go on, in the order of their first messages.
     *
     * @param afterSeq the number of the last one's first message, to go on from; 0 to begin
     */
    List<HeldKey> heldKeys(TopicName topic, long afterSeq, int limit);

    /** Tries the first message of a held key again now; one that was parked has all its attempts before it. */
    Repair release(TopicName topic, @Nullable String tenant, String key, String operator);

    /** Makes the first message of a held key a dead letter, and lets the key go on without it. */
    Repair skip(TopicName topic, @Nullable String tenant, String key, String operator);

    /** The lanes of an ordered topic, by their numbers; none for an unordered one. */
    List<LaneStatus> lanes(TopicName topic);

    /** The nodes that deliver topics, those that were lost within a day among them. */
    List<NodeStatus> nodes();

    /**
     * The consumers that have received something, by name, at most a thousand. Counts no more than the million marks that were made
     * first: a larger table takes too long to count, and its size is better asked of the database.
     */
    List<InboxStatus> inboxes();

    /**
     * Keeps what consumers remember in one partition for each day, by the time that is in ids of version 7, from tomorrow on: old days are then dropped whole instead of being purged row by row. Such ids that are older than the oldest day kept are
     * refused from then on. Doing it twice is doing it once. Read {@code docs/inbox.md} first: there is no way back but by hand.
     *
     * @throws dev.postrider.error.InvalidConfigurationException on other databases than PostgreSQL
     * @throws dev.postrider.error.TransactionConflictException when the table is so busy that it could not be had for a moment
     */
    void partitionInboxMarks(String operator);

    /**
     * Puts a dead letter, or a parked message, back in the queue, due now, with all its attempts before it. On an ordered topic it
     * goes before what waits of its key, unless that is older.
     */
    Repair replay(MessageId id, String operator);

    /** Removes a dead letter, or a parked message, for good; a key that it held goes on. Its idempotency key stays used for its window. */
    Repair discard(MessageId id, String operator);

    /** Stops the delivery of a topic on all nodes; what is in flight is finished. Pausing twice is pausing once. */
    void pause(TopicName topic, String operator);

    void resume(TopicName topic, String operator);

    /**
     * Removes a topic that has no messages and that no live node delivers, such as one with a typing error in its name. It is no longer
     * listed, and a process that does not know it yet is refused. A process that has written to it before may still do so: then it is
     * listed again, with its messages. Declaring the topic brings it back as it was, with the same number of lanes.
     *
     * @return {@link Repair#IN_USE} when it has messages, dead letters among them, or a live node delivers it
     */
    Repair remove(TopicName topic, String operator);

    /**
     * Retires a handler of a consumer: it gets no further messages, and those that wait for it become dead letters. What is being
     * handled at this moment is finished; if that fails it waits again, and retiring once more buries it. A process that still
     * declares the handler brings it back when it starts, so stop these first.
     *
     * @return how many messages were buried
     * @throws dev.postrider.error.UnknownTopicException when there was never such a handler
     */
    int retire(String consumer, String handler, String operator);

    /** {@link #deadLetters(TopicName, long, int)} from the beginning, for a topic by its written name. */
    default List<StoredMessage> deadLetters(String topic, int limit) {
        return deadLetters(TopicName.of(topic), 0, limit);
    }

    /** {@link #heldKeys(TopicName, long, int)} from the beginning, for a topic by its written name. */
    default List<HeldKey> heldKeys(String topic, int limit) {
        return heldKeys(TopicName.of(topic), 0, limit);
    }

    /** {@link #release(TopicName, String, String, String)} for a topic by its written name. */
    default Repair release(String topic, @Nullable String tenant, String key, String operator) {
        return release(TopicName.of(topic), tenant, key, operator);
    }

    /** {@link #skip(TopicName, String, String, String)} for a topic by its written name. */
    default Repair skip(String topic, @Nullable String tenant, String key, String operator) {
        return skip(TopicName.of(topic), tenant, key, operator);
    }

    /** {@link #remove(TopicName, String)} for a topic by its written name. */
    default Repair remove(String topic, String operator) {
        return remove(TopicName.of(topic), operator);
    }

    default void pause(String topic, String operator) {
        pause(TopicName.of(topic), operator);
    }

    default void resume(String topic, String operator) {
        resume(TopicName.of(topic), operator);
    }
}
