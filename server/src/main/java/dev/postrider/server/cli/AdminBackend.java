package dev.postrider.server.cli;

import dev.postrider.admin.Action;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.MessageDetail;
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

/**
 * What the verbs need of the operators' interface, whether it is reached over JDBC or over HTTP. The methods are those of
 * {@link dev.postrider.admin.Admin} and {@link dev.postrider.admin.CommandAdmin}, with the same contracts.
 */
public interface AdminBackend {

    /**
     * A message as this operator may see it.
     *
     * @param hidden whether the payload and the headers are withheld; the message has none then
     */
    record VisibleMessage(MessageDetail detail, boolean hidden) {}

    List<TopicStatus> status();

    MessagePage messages(Filter filter, Paging paging);

    FailureGroups failures(Filter filter, int limit);

    Optional<VisibleMessage> explain(MessageId id);

    Repair apply(Action action, MessageId id, Change change);

    ChangeResult apply(Action action, Filter filter, Change change);

    List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit);

    List<LaneStatus> lanes(TopicName topic);

    List<NodeStatus> nodes();

    List<AuditEntry> audit(long before, int limit);

    void pause(TopicName topic, Change change);

    void resume(TopicName topic, Change change);

    Repair remove(TopicName topic, Change change);

    List<StoredCommand> uncertain(int limit);

    List<StoredCommand> stuck(int limit);

    Optional<StoredCommand> command(UUID reference);

    Resolved resolve(UUID reference, Resolution resolution, Change change);
}
