package dev.postrider.server.cli;

import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.TopicStatus;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The operators' interface in this process, over JDBC. */
public record JdbcBackend(Admin admin) implements AdminBackend {

    @Override
    public List<TopicStatus> status() {
        return admin.status();
    }

    @Override
    public MessagePage messages(Filter filter, Paging paging) {
        return admin.messages(filter, paging);
    }

    @Override
    public FailureGroups failures(Filter filter, int limit) {
        return admin.failures(filter, limit);
    }

    @Override
    public Optional<VisibleMessage> explain(MessageId id) {
        return admin.explain(id).map(detail -> new VisibleMessage(detail, false));
    }

    @Override
    public Repair apply(Action action, MessageId id, Change change) {
        return admin.apply(action, id, change);
    }

    @Override
    public ChangeResult apply(Action action, Filter filter, Change change) {
        return admin.apply(action, filter, change);
    }

    @Override
    public List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit) {
        return admin.blockedKeys(topic, afterSeq, limit);
    }

    @Override
    public List<LaneStatus> lanes(TopicName topic) {
        return admin.lanes(topic);
    }

    @Override
    public List<NodeStatus> nodes() {
        return admin.nodes();
    }

    @Override
    public List<AuditEntry> audit(long before, int limit) {
        return admin.audit(before, limit);
    }

    @Override
    public void pause(TopicName topic, Change change) {
        admin.pause(topic, change);
    }

    @Override
    public void resume(TopicName topic, Change change) {
        admin.resume(topic, change);
    }

    @Override
    public Repair remove(TopicName topic, Change change) {
        return admin.remove(topic, change);
    }

    @Override
    public List<StoredCommand> uncertain(int limit) {
        return admin.commands().uncertain(limit);
    }

    @Override
    public List<StoredCommand> stuck(int limit) {
        return admin.commands().stuck(limit);
    }

    @Override
    public Optional<StoredCommand> command(UUID reference) {
        return admin.commands().find(reference);
    }

    @Override
    public Resolved resolve(UUID reference, Resolution resolution, Change change) {
        return admin.commands().resolve(reference, resolution, change);
    }
}
