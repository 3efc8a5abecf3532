package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.InboxStatus;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationTerms;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.inbox.InboxPartitions;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The operators' interface over JDBC: checks the arguments, and passes each call to the class of its subject. Thread-safe. */
final class JdbcAdmin implements Admin {

    private static final int LIST_LIMIT = 1000;

    private final Sessions sessions;
    private final SqlRunner sql;
    private final InboxStatements inbox;
    private final Topics topics;
    private final Runnable changed;
    private final StatusReads status;
    private final StoredMessages messages;
    private final MessageLists lists;
    private final FailureReads failures;
    private final BlockedKeys blockedKeys;
    private final AuditLog audit;
    private final MessageActions actions;
    private final FilteredActions filtered;
    private final FilteredRedelivery redelivery;
    private final OperationActions operations;
    private final TopicActions topicActions;

    /**
     * What the application gives to an admin.
     *
     * @param changed called after each change that may let a message be delivered
     * @param ciphers decrypt the payloads that are shown; null to show them as encrypted
     */
    record AdminAccess(Runnable changed, @Nullable StorageOptions ciphers) {}

    JdbcAdmin(Sessions sessions, SqlRunner sql, InboxStatements inbox, Topics topics, AdminAccess access) {
        this.sessions = sessions;
        this.sql = sql;
        this.inbox = inbox;
        this.topics = topics;
        this.changed = access.changed();
        MessageSearch search = new MessageSearch(sql, topics);
        status = new StatusReads(sessions, sql);
        messages = new StoredMessages(sql, access.ciphers());
        lists = new MessageLists(sql, search);
        failures = new FailureReads(sql, search, lists);
        blockedKeys = new BlockedKeys(sql);
        audit = new AuditLog(sql);
        actions = new MessageActions(sql, blockedKeys, audit);
        filtered = new FilteredActions(sessions, sql, search, actions, audit);
        redelivery = new FilteredRedelivery(sessions, sql, lists, audit);
        operations = new OperationActions(sessions, sql, audit, redelivery);
        topicActions = new TopicActions(sessions, sql, topics, status, audit);
    }

    @Override
    public CommandAdmin commands() {
        return new JdbcCommandAdmin(sessions, sql, UUID::randomUUID);
    }

    @Override
    public List<TopicStatus> status() {
        return status.topics();
    }

    /** Returns the topics that have pending messages and that no live node delivers. */
    List<TopicName> stranded() {
        return status.stranded();
    }

    @Override
    public List<LaneStatus> lanes(TopicName topic) {
        return status.lanes(topic);
    }

    @Override
    public List<NodeStatus> nodes() {
        return status.nodes();
    }

    @Override
    public List<InboxStatus> inboxes() {
        return status.inboxes();
    }

    private static void checkLimit(int limit) {
        if (limit < 1 || limit > LIST_LIMIT) {
            throw new InvalidConfigurationException("limit", "must be 1 to " + LIST_LIMIT + ", but is " + limit);
        }
    }

    @Override
    public MessagePage messages(Filter filter, Paging paging) {
        return sessions.transaction("list messages", connection -> lists.page(connection, filter, paging));
    }

    @Override
    public FailureGroups failures(Filter filter, int limit) {
        checkLimit(limit);
        return sessions.transaction("count failures", connection -> failures.groups(connection, filter, limit));
    }

    @Override
    public List<StoredMessage> deadLetters(TopicName topic, long afterSeq, int limit) {
        checkLimit(limit);
        return sessions.statement(
                "list dead letters", connection -> messages.deadLetters(connection, topic, afterSeq, limit));
    }

    @Override
    public Optional<StoredMessage> find(MessageId id) {
        return sessions.statement("find a message", connection -> messages.find(connection, id));
    }

    @Override
    public Optional<MessageDetail> explain(MessageId id) {
        return sessions.statement("explain a message", connection -> {
            Optional<StoredMessage> found = messages.find(connection, id);
            return found.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new MessageDetail(
                            found.get(),
                            messages.failedAttempts(connection, id),
                            new WaitReasons(sql)
                                    .of(
                                            connection,
                                            id,
                                            status.liveNodes(connection).keySet())));
        });
    }

    @Override
    public List<AuditEntry> audit(long before, int limit) {
        checkLimit(limit);
        return sessions.statement("list the audit", connection -> audit.list(connection, before, limit));
    }

    @Override
    public List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit) {
        checkLimit(limit);
        return sessions.statement(
                "list blocked keys", connection -> blockedKeys.list(connection, topic, afterSeq, limit));
    }

    @Override
    public Repair retry(TopicName topic, @Nullable String tenant, String key, Change change) {
        OperatorName.check(change.operator());
        return notified(repairKey(
                "RETRY",
                topic,
                change,
                connection -> blockedKeys.retry(
                        connection, topics.require(connection, topic), new OrderingKey(tenant, key))));
    }

    @Override
    public Repair bury(TopicName topic, @Nullable String tenant, String key, MessageId head, Change change) {
        OperatorName.check(change.operator());
        return notified(repairKey(
                "BURY",
                topic,
                change,
                connection -> blockedKeys.bury(
                        connection, topics.require(connection, topic), new OrderingKey(tenant, key), head)));
    }

    /** Runs {@code changed} after the commit of a repair, so that the claim loop scans at once. */
    private Repair notified(Repair repair) {
        if (repair == Repair.DONE) {
            changed.run();
        }
        return repair;
    }

    private Repair repairKey(
            String action, TopicName topic, Change change, Sessions.Body<BlockedKeys.KeyChange> repair) {
        return sessions.transaction(action, connection -> {
            BlockedKeys.KeyChange done = repair.run(connection);
            if (done.repair() == Repair.DONE) {
                audit.record(connection, change, action, topic, done.head());
            } else {
                connection.rollback();
            }
            return done.repair();
        });
    }

    @Override
    public Repair apply(Action action, MessageId id, Change change) {
        OperatorName.check(change.operator());
        return notified(sessions.transaction(
                action.name(),
                connection -> action.isRedelivery()
                        ? redelivery.apply(connection, action, id, change)
                        : actions.apply(connection, action, id, change)));
    }

    @Override
    public Repair cancel(TopicName topic, @Nullable String tenant, String idempotencyKey, Change change) {
        OperatorName.check(change.operator());
        return notified(sessions.transaction(
                Action.CANCEL.name(),
                connection ->
                        actions.cancel(connection, topics.require(connection, topic), tenant, idempotencyKey, change)));
    }

    @Override
    public ChangeResult apply(Action action, Filter filter, Change change) {
        ChangeResult result = action.isRedelivery()
                ? redelivery.apply(action, filter, change)
                : filtered.apply(action, filter, change);
        if (result.changed() > 0 && !change.isDryRun()) {
            changed.run();
        }
        return result;
    }

    @Override
    public Operation start(Action action, Filter filter, OperationTerms terms) {
        Operation started = operations.start(action, filter, terms);
        changed.run();
        return started;
    }

    @Override
    public List<Operation> operations(long before, int limit) {
        checkLimit(limit);
        return sessions.statement("list operations", connection -> operations.list(connection, before, limit));
    }

    @Override
    public Optional<Operation> operation(long id) {
        return sessions.statement("find an operation", connection -> operations.find(connection, id));
    }

    @Override
    public Repair cancel(long operationId, String operator) {
        return operations.cancel(operationId, Change.by(operator));
    }

    @Override
    public void pause(TopicName topic, Change change) {
        OperatorName.check(change.operator());
        topicActions.setPaused(topic, true, change);
    }

    @Override
    public void resume(TopicName topic, Change change) {
        OperatorName.check(change.operator());
        topicActions.setPaused(topic, false, change);
        changed.run();
    }

    @Override
    public Repair remove(TopicName topic, Change change) {
        OperatorName.check(change.operator());
        return topicActions.remove(topic, change);
    }

    @Override
    public int retire(String consumer, String handler, Change change) {
        OperatorName.check(change.operator());
        return topicActions.retire(consumer, handler, change);
    }

    @Override
    public void partitionInboxMarks(String operator) {
        OperatorName.check(operator);
        InboxPartitions partitions = inbox.partitions()
                .orElseThrow(() -> new InvalidConfigurationException(
                        "inbox partitions", "need PostgreSQL: on other databases old marks are purged row by row"));
        sessions.transaction("partition the marks of the inbox", connection -> {
            if (!partitions.exist(connection)) {
                partitions.introduce(connection);
                audit.record(connection, Change.by(operator), "PARTITION_INBOX", null, null);
            }
            return true;
        });
    }
}
