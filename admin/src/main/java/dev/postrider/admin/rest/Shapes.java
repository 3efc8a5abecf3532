package dev.postrider.admin.rest;

import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.InboxStatus;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.event.Event;
import dev.postrider.event.NodeLoad;
import dev.postrider.health.Health;
import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answers of the API. */
final class Shapes {

    private Shapes() {}

    /** The result of an action that changed something. */
    record Done() {}

    static final Shape<Done> DONE = Shape.<Done>named("Done").text("result", done -> "done");

    /** Who asks, and what this server lets them do. */
    record Self(Operator operator, boolean isReadOnly, boolean seesPayloads) {}

    static final Shape<Self> SELF = Shape.<Self>named("Self")
            .text("operator", self -> self.operator().name())
            .word("role", Role.class, self -> self.operator().role())
            .text("tenant?", self -> self.operator().tenant())
            .flag("readOnly", Self::isReadOnly)
            .flag("payloads", Self::seesPayloads);

    static final Shape<TopicStatus> TOPIC = Shape.<TopicStatus>named("Topic")
            .text("topic", TopicStatus::topic)
            .flag("paused", TopicStatus::paused)
            .number("nodes", TopicStatus::nodes)
            .number("waiting", TopicStatus::waiting)
            .number("scheduled", TopicStatus::scheduled)
            .number("retrying", TopicStatus::retrying)
            .number("processing", TopicStatus::processing)
            .number("blocked", TopicStatus::blocked)
            .number("parked", TopicStatus::parked)
            .number("dead", TopicStatus::dead)
            .millis("oldestMillis", TopicStatus::oldest)
            .number("backlog", TopicStatus::backlog)
            .flag("stranded", TopicStatus::isStranded);

    static final Shape<LaneStatus> LANE = Shape.<LaneStatus>named("Lane")
            .number("lane", LaneStatus::lane)
            .text("owner?", LaneStatus::owner)
            .time("until", LaneStatus::until)
            .flag("expired", LaneStatus::expired);

    static final Shape<MessageSummary> MESSAGE = Shape.<MessageSummary>named("Message")
            .text("seq", MessageSummary::seq)
            .text("id", MessageSummary::id)
            .text("topic", MessageSummary::topic)
            .text("type", MessageSummary::type)
            .text("tenant?", MessageSummary::tenant)
            .text("key?", MessageSummary::orderingKey)
            .text("idempotencyKey?", MessageSummary::idempotencyKey)
            .word("state", StoredMessage.State.class, MessageSummary::state)
            .number("attempts", MessageSummary::attempts)
            .number("crashes", MessageSummary::crashes)
            .number("payloadBytes", MessageSummary::payloadBytes)
            .time("createdAt", MessageSummary::createdAt)
            .time("dueAt?", MessageSummary::dueAt)
            .time("changedAt?", MessageSummary::changedAt)
            .time("deliveredAt?", MessageSummary::deliveredAt)
            .text("worker?", MessageSummary::worker)
            .shown("lastError?", (message, view) -> view.error(message.topic(), message.lastError()))
            .text("reason?", MessageSummary::reason)
            .text("fingerprint?", MessageSummary::fingerprint);

    private static final Shape<StoredMessage> STORED = Shape.<StoredMessage>named("StoredMessage")
            .text("seq", StoredMessage::seq)
            .text("id", stored -> stored.message().id())
            .text("receivedId?", StoredMessage::receivedId)
            .text("topic", stored -> stored.message().topic())
            .text("type", stored -> stored.message().type())
            .text("tenant?", stored -> stored.message().tenant())
            .text("key?", stored -> stored.message().key())
            .text("idempotencyKey?", stored -> stored.message().idempotencyKey())
            .word("state", StoredMessage.State.class, StoredMessage::state)
            .number("attempts", StoredMessage::attempts)
            .number("crashes", StoredMessage::crashes)
            .time("createdAt", StoredMessage::createdAt)
            .time("dueAt", StoredMessage::availableAt)
            .time("deliveredAt?", StoredMessage::deliveredAt)
            .text("worker?", StoredMessage::worker)
            .shown("lastError?", (stored, view) -> view.error(stored.message().topic(), stored.lastError()))
            .text("reason?", StoredMessage::reason)
            .text("fingerprint?", StoredMessage::fingerprint)
            .text("correlationId?", stored -> stored.message().correlationId())
            .text("causationId?", stored -> stored.message().causationId())
            .text("traceparent?", stored -> {
                TraceContext trace = stored.message().trace();
                return trace == null ? null : trace.traceparent();
            })
            .text("tracestate?", stored -> {
                TraceContext trace = stored.message().trace();
                return trace == null ? null : trace.tracestate();
            })
            .time("occurredAt", stored -> stored.message().occurredAt())
            .text("source?", stored -> stored.message().source())
            .text("subject?", stored -> stored.message().subject())
            .time("deliverAt?", stored -> stored.message().deliverAt())
            .time("expiresAt?", stored -> stored.message().expiresAt())
            .text("contentType", stored -> stored.message().payload().contentType())
            .number("payloadBytes", stored -> stored.message().payload().size())
            .tree("payloadHidden", Map.of("type", "boolean"), (stored, view) -> !view.payloads())
            .tree(
                    "headers?",
                    Map.of("type", "object", "additionalProperties", Map.of("type", "string")),
                    (stored, view) -> headers(stored.message(), view))
            .shown(
                    "payload?",
                    (stored, view) -> ShownPayload.of(stored.message(), view).text())
            .shown(
                    "payloadBase64?",
                    (stored, view) -> ShownPayload.of(stored.message(), view).base64());

    private static @Nullable Map<String, String> headers(Message message, View view) {
        if (!view.payloads()) {
            return null;
        }
        Map<String, String> headers = new LinkedHashMap<>();
        message.headers()
                .forEach((name, value) ->
                        headers.put(name, view.redaction().redact(message.topic(), Redaction.Part.HEADER, value)));
        return headers;
    }

    private static final Shape<MessageDetail.Wait> WAIT = Shape.<MessageDetail.Wait>named("Wait")
            .word("cause", MessageDetail.WaitCause.class, MessageDetail.Wait::cause)
            .time("until?", MessageDetail.Wait::until)
            .text("behind?", MessageDetail.Wait::behind);

    static final Shape<MessageDetail> DETAIL = Shape.<MessageDetail>named("MessageDetail")
            .one("message", STORED, MessageDetail::message)
            .list("waits", WAIT, MessageDetail::waits);

    static final Shape<ChangeResult> CHANGE = Shape.<ChangeResult>named("ChangeResult")
            .number("changed", ChangeResult::changed)
            .number("skipped", ChangeResult::skipped)
            .text("next?", ChangeResult::next)
            .list("sample", MESSAGE, ChangeResult::sample);

    private static final Shape<FailureGroup> GROUP = Shape.<FailureGroup>named("FailureGroup")
            .text("fingerprint?", FailureGroup::fingerprint)
            .text("topic", FailureGroup::topic)
            .text("type", FailureGroup::type)
            .number("count", FailureGroup::count)
            .time("first", FailureGroup::first)
            .time("last", FailureGroup::last)
            .text("sample", FailureGroup::sample)
            .shown("error?", (group, view) -> view.error(group.topic(), group.error()));

    static final Shape<FailureGroups> FAILURES = Shape.<FailureGroups>named("FailureGroups")
            .list("groups", GROUP, FailureGroups::groups)
            .flag("complete", FailureGroups::complete);

    static final Shape<BlockedKey> BLOCKED_KEY = Shape.<BlockedKey>named("BlockedKey")
            .text("headSeq", BlockedKey::headSeq)
            .text("topic", BlockedKey::topic)
            .text("tenant?", BlockedKey::tenant)
            .text("key", BlockedKey::key)
            .text("head", BlockedKey::head)
            .number("attempts", BlockedKey::attempts)
            .time("nextAttempt?", BlockedKey::nextAttempt)
            .text("reason?", BlockedKey::reason)
            .shown("lastError?", (blocked, view) -> view.error(blocked.topic(), blocked.lastError()))
            .time("since", BlockedKey::since)
            .number("behind", BlockedKey::behind)
            .flag("parked", BlockedKey::isParked);

    static final Shape<NodeStatus> NODE = Shape.<NodeStatus>named("Node")
            .text("worker", NodeStatus::worker)
            .text("version", NodeStatus::version)
            .tree("topics", Map.of("type", "array", "items", Map.of("type", "string")), (node, view) -> node.topics())
            .time("startedAt", NodeStatus::startedAt)
            .time("until", NodeStatus::until)
            .flag("alive", NodeStatus::alive);

    static final Shape<InboxStatus> INBOX = Shape.<InboxStatus>named("Inbox")
            .text("consumer", InboxStatus::consumer)
            .number("marks", InboxStatus::marks)
            .time("oldest", InboxStatus::oldest);

    /** The result of the retirement of a handler. */
    record Retired(int buried) {}

    static final Shape<Retired> RETIRED = Shape.<Retired>named("Retired").number("buried", Retired::buried);

    static final Shape<StoredCommand> COMMAND = Shape.<StoredCommand>named("Command")
            .text("reference", StoredCommand::reference)
            .text("operation", StoredCommand::operation)
            .text("tenant?", StoredCommand::tenant)
            .text("caller?", StoredCommand::caller)
            .text("keyPrefix", StoredCommand::keyPrefix)
            .word("state", StoredCommand.State.class, StoredCommand::state)
            .flag("stuck", StoredCommand::stuck)
            .flag("effectStarted", StoredCommand::effectStarted)
            .number("attempts", StoredCommand::attempts)
            .text("reason?", StoredCommand::reason)
            .time("createdAt", StoredCommand::createdAt)
            .time("updatedAt", StoredCommand::updatedAt)
            .time("leaseUntil", StoredCommand::leaseUntil)
            .time("keyExpiresAt", StoredCommand::keyExpiresAt);

    static final Shape<AuditEntry> AUDIT = Shape.<AuditEntry>named("AuditEntry")
            .text("id", AuditEntry::id)
            .time("at", AuditEntry::at)
            .text("operator", AuditEntry::operator)
            .text("action", entry -> Words.of(entry.action()))
            .text("topic?", AuditEntry::topic)
            .text("message?", AuditEntry::message)
            .text("filter?", AuditEntry::filter)
            .text("reason?", AuditEntry::reason)
            .number("changed?", AuditEntry::changed)
            .number("skipped?", AuditEntry::skipped);

    private static final Shape<NodeLoad.TopicLoad> TOPIC_LOAD = Shape.<NodeLoad.TopicLoad>named("TopicLoad")
            .text("topic", NodeLoad.TopicLoad::topic)
            .number("slotsTaken", NodeLoad.TopicLoad::slotsTaken)
            .number("slots", NodeLoad.TopicLoad::slots)
            .number("lanesOwned", NodeLoad.TopicLoad::lanesOwned)
            .word("circuit", NodeLoad.Circuit.class, NodeLoad.TopicLoad::circuit);

    private static final Shape<NodeLoad> LOAD = Shape.<NodeLoad>named("NodeLoad")
            .text("name", NodeLoad::node)
            .number("inFlight", NodeLoad::inFlight)
            .millis("clockSkewMillis", NodeLoad::clockSkew)
            .text("schemaProblem", NodeLoad::schemaProblem)
            .list("topics", TOPIC_LOAD, NodeLoad::topics);

    static final Shape<Event.Sampled> SAMPLED = Shape.<Event.Sampled>named("Sampled")
            .tree(
                    "sample",
                    Map.of("type", "object", "description", "As Sample.toJson of the Java library writes it"),
                    (sampled, view) -> Json.readTree(sampled.sample().toJson()))
            .one("node", LOAD, Event.Sampled::node)
            .millis("intervalMillis", Event.Sampled::interval);

    private static final Shape<Health.HealthFinding> FINDING = Shape.<Health.HealthFinding>named("HealthFinding")
            .word("status", Health.Status.class, Health.HealthFinding::status)
            .word("cause", Health.Cause.class, Health.HealthFinding::cause)
            .text("topic?", Health.HealthFinding::topic)
            .text("text", Health.HealthFinding::text);

    static final Shape<Health> HEALTH = Shape.<Health>named("Health")
            .word("status", Health.Status.class, Health::status)
            .list("findings", FINDING, Health::findings);

    /** The problem of a single action, and of every error. */
    static Map<String, Object> problemSchema() {
        Map<String, Object> text = Map.of("type", "string");
        Map<String, Object> properties = new LinkedHashMap<>();
        for (String member : List.of("type", "title", "detail", "code", "field", "result")) {
            properties.put(member, text);
        }
        properties.put("status", Map.of("type", "integer"));
        return Map.of(
                "type",
                "object",
                "properties",
                properties,
                "required",
                List.of("type", "title", "status", "detail", "code"));
    }
}
