package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The operators' interface to topics and messages: status and repair. Every change is recorded in the audit table
 * with the operator's name. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreException} when the database fails. Methods with an
 * {@code operator} throw {@link dev.postrider.error.InvalidConfigurationException} when the name is missing, blank,
 * longer than 255 characters or not readable, even if the call would have changed nothing. Methods with a {@link Change}
 * of one thing take the operator and the reason from it, and refuse a dry run. Methods with a
 * {@code limit} throw it when the limit is not between 1 and 1000.
 */
public interface Admin {

    /**
     * Returns the status of every registered topic, ordered by name. A removed topic is included only if it has
     * messages. The statement counts rows: call it every few seconds at most, and not on a hot path.
     */
    List<TopicStatus> status();

    /**
     * Returns the dead letters of a topic, the oldest first. The list is empty for a topic that is not registered.
     *
     * @param afterSeq the {@code seq} of the last dead letter of the previous page; 0 for the first page
     */
    List<StoredMessage> deadLetters(TopicName topic, long afterSeq, int limit);

    /**
     * Lists messages without their payloads. Waiting messages come first, in the order they were written, then delivered
     * ones, by the time of their delivery. A message whose state changes between two pages may be missing, or appear
     * twice. No call examines more than {@link Filter#EXAMINED} messages.
     *
     * @throws dev.postrider.error.InvalidConfigurationException when the cursor is not one of this list
     */
    MessagePage messages(Filter filter, Paging paging);

    /**
     * Counts dead and parked messages by fingerprint, topic and type. Examines the newest {@link Filter#EXAMINED}
     * messages at most.
     *
     * @param filter selects among the dead and parked messages
     * @param limit the largest number of groups
     */
    FailureGroups failures(Filter filter, int limit);

    /** Finds a message as {@link #find} does, with its failed attempts, and says what it waits for. */
    Optional<MessageDetail> explain(MessageId id);

    /**
     * Lists the changes by operators, the newest first.
     *
     * @param before the {@code id} of the last entry of the previous page; {@link Long#MAX_VALUE} for the first page
     */
    List<AuditEntry> audit(long before, int limit);

    /**
     * Changes one message. A delivered message is redelivered once only: after that, the message that was written instead
     * can be redelivered, when it is delivered and in the archive.
     *
     * @param change names the operator; its limit and its cursor mean nothing here. A dry run is refused
     */
    Repair apply(Action action, MessageId id, Change change);

    /**
     * Cancels the message that was written with an idempotency key, as {@link Action#CANCEL} does. The key stays used
     * until its retention ends. A message with an id only is cancelled by {@code apply(Action.CANCEL, id, change)}.
     *
     * @param tenant the tenant of the message; null for none
     * @return {@link Repair#WRONG_STATE} when the message was delivered or is a dead letter; {@link Repair#BUSY} when it
     *     may be in delivery; {@link Repair#NOT_FOUND} when the key was not used
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    Repair cancel(TopicName topic, @Nullable String tenant, String idempotencyKey, Change change);

    /**
     * Changes the messages that a filter selects, the oldest first, or counts them in a dry run. The work is done in
     * transactions of some hundred messages, each with its entry in the audit. A message is changed only if the filter
     * still selects it at that moment. A message that another session has locked is skipped, and so are the messages of
     * a lane that stays locked. If a transaction fails, the earlier ones stay: the call throws, and the audit shows what
     * was done.
     *
     * <p>A filter for a redelivery needs an end of the delivery times that has passed. Otherwise it would select the
     * messages that it has just written, as soon as they are delivered. Messages that were redelivered before, and those
     * whose payload the archive does not keep, are skipped.
     *
     * @throws dev.postrider.error.InvalidConfigurationException when the filter selects no state that the action
     *     changes, or when it is one for a redelivery without a past end of the delivery times
     */
    ChangeResult apply(Action action, Filter filter, Change change);

    /**
     * Starts an action by filter as a background operation, for more messages than a call of {@link #apply} changes. Any
     * started node works it off in steps. Each step commits its changes together with the place that it has reached, so a
     * node that dies repeats nothing and skips nothing, and another node continues. Messages are selected, changed and
     * skipped as by {@link #apply}. The start and the end are entries in the audit; the result is that of the operation.
     *
     * @throws dev.postrider.error.InvalidConfigurationException as {@link #apply(Action, Filter, Change)} does, and when
     *     100 operations are waiting or running
     */
    Operation start(Action action, Filter filter, OperationTerms terms);

    /**
     * Lists background operations, the newest first. Those that ended are kept for 90 days.
     *
     * @param before the {@code id} of the last operation of the previous page; {@link Long#MAX_VALUE} for the first page
     */
    List<Operation> operations(long before, int limit);

    /** Finds a background operation. */
    Optional<Operation> operation(long id);

    /**
     * Ends a background operation. It waits for a running step, and afterwards the operation changes nothing more.
     *
     * @return {@link Repair#WRONG_STATE} when it has already ended; {@link Repair#NOT_FOUND} when there is none
     * @throws dev.postrider.error.TransactionConflictException when a running step takes too long: call again
     */
    Repair cancel(long operationId, String operator);

    /** Finds a message in any state, including delivered messages that are still in the archive. */
    Optional<StoredMessage> find(MessageId id);

    /**
     * Returns the blocked keys of an ordered topic, in the order of their heads. The list is empty for a topic that
     * is not registered.
     *
     * @param afterSeq the {@code headSeq} of the last blocked key of the previous page; 0 for the first page
     */
    List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit);

    /**
     * Retries the head of a blocked key now. A parked head gets all its attempts again. A repeated call does no harm:
     * it finds the head already due, or it makes the next head due a little earlier.
     *
     * @return {@link Repair#NOT_FOUND} when the key is not blocked; {@link Repair#BUSY} when its head is being
     *     handled
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    Repair retry(TopicName topic, @Nullable String tenant, String key, Change change);

    /** Calls {@link #retry(TopicName, String, String, Change)} without a reason. */
    default Repair retry(TopicName topic, @Nullable String tenant, String key, String operator) {
        return retry(topic, tenant, key, Change.by(operator));
    }

    /**
     * Makes the head of a blocked key a dead letter. The key continues with its next message.
     *
     * @param head the message to bury, as {@link BlockedKey#head()} lists it
     * @return {@link Repair#NOT_FOUND} when another message is the head now, for example after another operator
     *     buried the first one. Nothing was changed then
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    Repair bury(TopicName topic, @Nullable String tenant, String key, MessageId head, Change change);

    /** Calls {@link #bury(TopicName, String, String, MessageId, Change)} without a reason. */
    default Repair bury(TopicName topic, @Nullable String tenant, String key, MessageId head, String operator) {
        return bury(topic, tenant, key, head, Change.by(operator));
    }

    /** Returns the lanes of an ordered topic, ordered by number. The list is empty for an unordered topic. */
    List<LaneStatus> lanes(TopicName topic);

    /** Returns the nodes that deliver topics, including nodes that were lost within the last day. */
    List<NodeStatus> nodes();

    /**
     * Returns the consumers that have received messages, ordered by name, at most 1000. Only the oldest million marks
     * are counted, because a larger count takes too long. For the size of a larger table, ask the database.
     */
    List<InboxStatus> inboxes();

    /**
     * Stores the marks of the inbox in daily partitions, starting tomorrow, by the time in ids of version 7. Old
     * marks are then dropped a whole day at a time instead of row by row.
     *
     * <p>After the first day was dropped, ids of version 7 that are older than the oldest remaining day are refused.
     * A second call changes nothing. The change can be reverted only by hand: read {@code docs/inbox.md} first.
     *
     * @throws dev.postrider.error.InvalidConfigurationException on databases other than PostgreSQL
     * @throws dev.postrider.error.TransactionConflictException when the table is so busy that it cannot be locked
     */
    void partitionInboxMarks(String operator);

    /**
     * Returns a dead letter or a parked message to the queue. The message is due now and gets all its attempts again.
     * On an ordered topic it comes before the waiting messages of its key, except those that are older.
     */
    default Repair replay(MessageId id, String operator) {
        return apply(Action.REPLAY, id, Change.by(operator));
    }

    /**
     * Deletes a dead letter or a parked message. If the message blocked its key, the key continues. The idempotency
     * key of the message stays used until its retention ends.
     */
    default Repair discard(MessageId id, String operator) {
        return apply(Action.DISCARD, id, Change.by(operator));
    }

    /**
     * Pauses the delivery of a topic on all nodes, each within its poll interval. Messages in flight are finished. A
     * node releases messages of an ordered topic that it has read and not sent. A second call changes nothing.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    void pause(TopicName topic, Change change);

    /** Calls {@link #pause(TopicName, Change)} without a reason. */
    default void pause(TopicName topic, String operator) {
        pause(topic, Change.by(operator));
    }

    /**
     * Resumes the delivery of a paused topic.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not registered
     */
    void resume(TopicName topic, Change change);

    /** Calls {@link #resume(TopicName, Change)} without a reason. */
    default void resume(TopicName topic, String operator) {
        resume(topic, Change.by(operator));
    }

    /**
     * Removes a topic that has no messages and that no live node delivers, for example a topic with a misspelled
     * name. The topic is no longer listed, and a process that has not used it before gets
     * {@link dev.postrider.error.UnknownTopicException}. A process that has written to the topic before can still
     * write to it. The topic is then listed again with its messages. A new declaration restores the topic with the
     * same number of lanes.
     *
     * @return {@link Repair#IN_USE} when the topic has messages, including dead letters, or a live node delivers it;
     *     {@link Repair#NOT_FOUND} when it is not registered or was already removed
     */
    Repair remove(TopicName topic, Change change);

    /** Calls {@link #remove(TopicName, Change)} without a reason. */
    default Repair remove(TopicName topic, String operator) {
        return remove(topic, Change.by(operator));
    }

    /**
     * Retires a handler of a consumer. The handler gets no further messages, and its waiting messages become dead
     * letters. A message that is being handled is finished. If it fails, it waits again, and a second call buries it.
     * A process that still declares the handler registers it again at its start, so stop such processes first.
     *
     * @return the number of buried messages
     * @throws dev.postrider.error.UnknownTopicException when the handler was never registered
     */
    int retire(String consumer, String handler, Change change);

    /** Calls {@link #retire(String, String, Change)} without a reason. */
    default int retire(String consumer, String handler, String operator) {
        return retire(consumer, handler, Change.by(operator));
    }

    /** Returns the first page of {@link #deadLetters(TopicName, long, int)}, for a topic given as text. */
    default List<StoredMessage> deadLetters(String topic, int limit) {
        return deadLetters(TopicName.of(topic), 0, limit);
    }

    /** Returns the first page of {@link #blockedKeys(TopicName, long, int)}, for a topic given as text. */
    default List<BlockedKey> blockedKeys(String topic, int limit) {
        return blockedKeys(TopicName.of(topic), 0, limit);
    }

    /** Calls {@link #retry(TopicName, String, String, String)} for a topic given as text. */
    default Repair retry(String topic, @Nullable String tenant, String key, String operator) {
        return retry(TopicName.of(topic), tenant, key, operator);
    }

    /** Calls {@link #bury(TopicName, String, String, MessageId, String)} for a topic given as text. */
    default Repair bury(String topic, @Nullable String tenant, String key, MessageId head, String operator) {
        return bury(TopicName.of(topic), tenant, key, head, operator);
    }

    /** Calls {@link #remove(TopicName, String)} for a topic given as text. */
    default Repair remove(String topic, String operator) {
        return remove(TopicName.of(topic), operator);
    }

    /** Calls {@link #pause(TopicName, String)} for a topic given as text. */
    default void pause(String topic, String operator) {
        pause(TopicName.of(topic), operator);
    }

    /** Calls {@link #resume(TopicName, String)} for a topic given as text. */
    default void resume(String topic, String operator) {
        resume(TopicName.of(topic), operator);
    }

    /** Returns the operators' interface to commands, which resolves uncertain commands. */
    CommandAdmin commands();
}
