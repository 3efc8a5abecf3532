package dev.postrider.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.admin.Action;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.admin.FailureGroup;
import dev.postrider.admin.FailureGroups;
import dev.postrider.admin.Filter;
import dev.postrider.admin.LaneStatus;
import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessagePage;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.NodeStatus;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import dev.postrider.server.api.ApiConnection.Response;
import dev.postrider.server.cli.AdminBackend;
import dev.postrider.server.cli.CommandFailure;
import java.net.URI;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The operators' interface over the admin API. The server knows the operator by the token, so that the name in a change does
 * not count. Thread-safe.
 */
public final class AdminClient implements AdminBackend {

    private final ApiConnection connection;

    /** @param token null for none */
    public AdminClient(URI base, @Nullable String token) {
        this.connection = new ApiConnection(base, token);
    }

    // Lists

    @Override
    public List<TopicStatus> status() {
        return items(get("topics", Map.of()), AdminClient::topic);
    }

    @Override
    public MessagePage messages(Filter filter, Paging paging) {
        Map<String, Object> parameters = FilterMembers.of(filter);
        parameters.put("order", paging.newestFirst() ? "newest" : "oldest");
        parameters.put("limit", Integer.toString(paging.limit()));
        putIfPresent(parameters, "cursor", paging.cursor());
        ApiAnswer page = get("messages", parameters);
        return new MessagePage(items(page, AdminClient::summary), page.textOrNull("next"), page.flag("cut"));
    }

    @Override
    public FailureGroups failures(Filter filter, int limit) {
        Map<String, Object> parameters = FilterMembers.of(filter);
        parameters.put("limit", Integer.toString(limit));
        ApiAnswer failures = get("failures", parameters);
        return new FailureGroups(parsed(() -> failures.list("groups", AdminClient::group)), failures.flag("complete"));
    }

    @Override
    public Optional<VisibleMessage> explain(MessageId id) {
        Response response = connection.get("messages/" + id, Map.of());
        return response.isProblem() ? Optional.empty() : Optional.of(parsed(() -> detail(response.body())));
    }

    @Override
    public List<BlockedKey> blockedKeys(TopicName topic, long afterSeq, int limit) {
        return items(
                get(
                        "blocked-keys",
                        Map.of("topic", topic, "after", Long.toString(afterSeq), "limit", Integer.toString(limit))),
                AdminClient::blockedKey);
    }

    @Override
    public List<LaneStatus> lanes(TopicName topic) {
        return items(
                get("topics/lanes", Map.of("topic", topic)),
                lane -> new LaneStatus(
                        lane.integer("lane"), lane.textOrNull("owner"), lane.time("until"), lane.flag("expired")));
    }

    @Override
    public List<NodeStatus> nodes() {
        return items(
                get("nodes", Map.of()),
                node -> new NodeStatus(
                        node.text("worker"),
                        node.text("version"),
                        node.elements("topics").stream()
                                .map(topic -> TopicName.of(String.valueOf(topic)))
                                .toList(),
                        node.time("startedAt"),
                        node.time("until"),
                        node.flag("alive")));
    }

    @Override
    public List<AuditEntry> audit(long before, int limit) {
        Map<String, Object> parameters = new LinkedHashMap<>(Map.of("limit", Integer.toString(limit)));
        if (before != Long.MAX_VALUE) {
            parameters.put("before", Long.toString(before));
        }
        return items(get("audit", parameters), AdminClient::auditEntry);
    }

    @Override
    public List<StoredCommand> uncertain(int limit) {
        return commands("uncertain", limit);
    }

    @Override
    public List<StoredCommand> stuck(int limit) {
        return commands("stuck", limit);
    }

    private List<StoredCommand> commands(String state, int limit) {
        return items(
                get("commands", Map.of("state", state, "limit", Integer.toString(limit))), AdminClient::storedCommand);
    }

    @Override
    public Optional<StoredCommand> command(UUID reference) {
        Response response = connection.get("commands/" + reference, Map.of());
        return response.isProblem() ? Optional.empty() : Optional.of(parsed(() -> storedCommand(response.body())));
    }

    // Changes

    @Override
    public Repair apply(Action action, MessageId id, Change change) {
        Map<String, Object> body = reason(change);
        if (change.expected() != null) {
            body.put("expected", FilterMembers.word(change.expected()));
        }
        return repair(connection.post("messages/" + id + "/" + FilterMembers.word(action), body));
    }

    @Override
    public ChangeResult apply(Action action, Filter filter, Change change) {
        Map<String, Object> body = reason(change);
        body.put("action", FilterMembers.word(action));
        body.put("filter", FilterMembers.of(filter));
        body.put("dryRun", change.isDryRun());
        body.put("limit", change.limit());
        putIfPresent(body, "cursor", change.cursor());
        ApiAnswer result = done(connection.post("messages/actions", body)).body();
        return parsed(() -> new ChangeResult(
                result.integer("changed"),
                result.integer("skipped"),
                result.textOrNull("next"),
                result.list("sample", AdminClient::summary)));
    }

    @Override
    public void pause(TopicName topic, Change change) {
        change("pause", topic, change);
    }

    @Override
    public void resume(TopicName topic, Change change) {
        change("resume", topic, change);
    }

    private void change(String verb, TopicName topic, Change change) {
        Response response = connection.post("topics/" + verb, topicBody(topic, change));
        if (response.code().equals("unknown-topic")) {
            throw new UnknownTopicException(topic.toString());
        }
        done(response);
    }

    @Override
    public Repair remove(TopicName topic, Change change) {
        return repair(connection.post("topics/remove", topicBody(topic, change)));
    }

    private static Map<String, Object> topicBody(TopicName topic, Change change) {
        Map<String, Object> body = reason(change);
        body.put("topic", topic.toString());
        return body;
    }

    @Override
    public Resolved resolve(UUID reference, Resolution resolution, Change change) {
        Map<String, Object> body = reason(change);
        body.put("resolution", FilterMembers.word(resolution));
        Response response = connection.post("commands/" + reference + "/resolve", body);
        return response.isProblem() ? parsed(() -> response.body().word("result", Resolved.class)) : Resolved.DONE;
    }

    private static Map<String, Object> reason(Change change) {
        Map<String, Object> body = new LinkedHashMap<>();
        putIfPresent(body, "reason", change.reason());
        return body;
    }

    private static void putIfPresent(Map<String, Object> members, String name, @Nullable String value) {
        if (value != null) {
            members.put(name, value);
        }
    }

    /** The result of an action is a problem when nothing was changed. */
    private static Repair repair(Response response) {
        return response.isProblem() ? parsed(() -> response.body().word("result", Repair.class)) : Repair.DONE;
    }

    private static Response done(Response response) {
        if (response.isProblem()) {
            throw CommandFailure.refused("The admin API refuses: " + response.detail());
        }
        return response;
    }

    // Reading

    private ApiAnswer get(String path, Map<String, ?> parameters) {
        return done(connection.get(path, parameters)).body();
    }

    private static <T> List<T> items(ApiAnswer page, Function<ApiAnswer, T> read) {
        return parsed(() -> page.list("items", read));
    }

    /** Reads an answer. One of another shape comes from another version of the server. */
    private static <T> T parsed(Supplier<T> read) {
        try {
            return read.get();
        } catch (RuntimeException e) {
            throw CommandFailure.refused(
                    "The admin API answered in another form than this version reads: " + e.getMessage());
        }
    }

    private static TopicStatus topic(ApiAnswer topic) {
        return new TopicStatus(
                topic.topic("topic"),
                topic.flag("paused"),
                topic.integer("nodes"),
                topic.number("waiting"),
                topic.number("scheduled"),
                topic.number("retrying"),
                topic.number("processing"),
                topic.number("blocked"),
                topic.number("parked"),
                topic.number("dead"),
                Duration.ofMillis(topic.number("oldestMillis")));
    }

    private static MessageSummary summary(ApiAnswer message) {
        return new MessageSummary(
                message.number("seq"),
                message.id("id"),
                message.topic("topic"),
                message.text("type"),
                message.textOrNull("tenant"),
                message.textOrNull("key"),
                message.textOrNull("idempotencyKey"),
                message.word("state", StoredMessage.State.class),
                message.integer("attempts"),
                message.integer("crashes"),
                message.number("payloadBytes"),
                message.time("createdAt"),
                message.timeOrNull("dueAt"),
                message.timeOrNull("changedAt"),
                message.timeOrNull("deliveredAt"),
                message.textOrNull("worker"),
                message.textOrNull("lastError"),
                message.textOrNull("reason"),
                message.textOrNull("fingerprint"));
    }

    private static FailureGroup group(ApiAnswer group) {
        return new FailureGroup(
                group.textOrNull("fingerprint"),
                group.topic("topic"),
                group.text("type"),
                group.number("count"),
                group.time("first"),
                group.time("last"),
                group.id("sample"),
                group.textOrNull("error"));
    }

    private static BlockedKey blockedKey(ApiAnswer key) {
        return new BlockedKey(
                key.number("headSeq"),
                key.topic("topic"),
                key.textOrNull("tenant"),
                key.text("key"),
                key.id("head"),
                key.integer("attempts"),
                key.timeOrNull("nextAttempt"),
                key.textOrNull("reason"),
                key.textOrNull("lastError"),
                key.time("since"),
                key.number("behind"));
    }

    private static AuditEntry auditEntry(ApiAnswer entry) {
        return new AuditEntry(
                entry.number("id"),
                entry.time("at"),
                entry.text("operator"),
                entry.text("action"),
                entry.textOrNull("topic"),
                entry.idOrNull("message"),
                entry.textOrNull("filter"),
                entry.textOrNull("reason"),
                entry.integerOrNull("changed"),
                entry.integerOrNull("skipped"));
    }

    private static StoredCommand storedCommand(ApiAnswer command) {
        return new StoredCommand(
                UUID.fromString(command.text("reference")),
                command.text("operation"),
                command.textOrNull("tenant"),
                command.textOrNull("caller"),
                command.text("keyPrefix"),
                command.word("state", StoredCommand.State.class),
                command.flag("stuck"),
                command.flag("effectStarted"),
                command.integer("attempts"),
                command.textOrNull("reason"),
                command.time("createdAt"),
                command.time("updatedAt"),
                command.time("leaseUntil"),
                command.time("keyExpiresAt"));
    }

    private static VisibleMessage detail(ApiAnswer answer) {
        ApiAnswer stored = answer.object("message");
        List<MessageDetail.Wait> waits = answer.list(
                "waits",
                wait -> new MessageDetail.Wait(
                        wait.word("cause", MessageDetail.WaitCause.class),
                        wait.timeOrNull("until"),
                        wait.idOrNull("behind")));
        StoredMessage message = new StoredMessage(
                stored.number("seq"),
                message(stored),
                stored.idOrNull("receivedId"),
                stored.word("state", StoredMessage.State.class),
                stored.integer("attempts"),
                stored.integer("crashes"),
                stored.time("dueAt"),
                stored.timeOrNull("deliveredAt"),
                stored.textOrNull("worker"),
                stored.textOrNull("lastError"),
                stored.textOrNull("reason"),
                stored.textOrNull("fingerprint"),
                stored.time("createdAt"));
        return new VisibleMessage(new MessageDetail(message, List.of(), waits), stored.flag("payloadHidden"));
    }

    private static Message message(ApiAnswer stored) {
        String traceparent = stored.textOrNull("traceparent");
        Map<String, String> headers = new LinkedHashMap<>();
        if (stored.members().get("headers") != null) {
            stored.object("headers").members().forEach((name, value) -> headers.put(name, String.valueOf(value)));
        }
        return new Message(
                stored.id("id"),
                stored.topic("topic"),
                stored.text("type"),
                stored.textOrNull("tenant"),
                stored.textOrNull("key"),
                stored.textOrNull("idempotencyKey"),
                payload(stored),
                headers,
                stored.textOrNull("correlationId"),
                stored.textOrNull("causationId"),
                traceparent == null ? null : new TraceContext(traceparent, stored.textOrNull("tracestate")),
                stored.time("occurredAt"),
                stored.textOrNull("source"),
                stored.textOrNull("subject"),
                stored.timeOrNull("deliverAt"),
                stored.timeOrNull("expiresAt"));
    }

    private static Payload payload(ApiAnswer stored) {
        String text = stored.textOrNull("payload");
        String base64 = stored.textOrNull("payloadBase64");
        byte[] bytes = base64 != null ? Base64.getDecoder().decode(base64) : (text == null ? "" : text).getBytes(UTF_8);
        return Payload.of(bytes, stored.text("contentType"));
    }
}
