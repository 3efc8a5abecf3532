package dev.postrider.server.cli;

import dev.postrider.admin.MessageDetail;
import dev.postrider.admin.MessageDetail.Wait;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code postrider show}: shows one message, and what it waits for. */
@Command(name = "show", description = "Show one message and what it waits for.")
final class ShowCommand implements Callable<Integer> {

    private static final Columns<MessageDetail> DETAIL = Columns.<MessageDetail>none()
            .with("id", "ID", detail -> message(detail).id())
            .with("state", "STATE", detail -> detail.message().state())
            .with("reason", "REASON", detail -> detail.message().reason())
            .with("topic", "TOPIC", detail -> message(detail).topic())
            .with("type", "TYPE", detail -> message(detail).type())
            .with("tenant", "TENANT", detail -> message(detail).tenant())
            .with("key", "KEY", detail -> message(detail).key())
            .with("idempotencyKey", "IDEMPOTENCY KEY", detail -> message(detail).idempotencyKey())
            .with("correlationId", "CORRELATION ID", detail -> message(detail).correlationId())
            .with("causationId", "CAUSATION ID", detail -> message(detail).causationId())
            .with("receivedId", "RECEIVED ID", detail -> detail.message().receivedId())
            .with("createdAt", "CREATED", detail -> detail.message().createdAt())
            .with("dueAt", "DUE", detail -> detail.message().availableAt())
            .with("deliveredAt", "DELIVERED", detail -> detail.message().deliveredAt())
            .with("attempts", "ATTEMPTS", detail -> detail.message().attempts())
            .with("crashes", "LOST NODES", detail -> orNone(detail.message().crashes()))
            .with("worker", "NODE", detail -> detail.message().worker())
            .with("fingerprint", "FINGERPRINT", detail -> detail.message().fingerprint())
            .with("lastError", "LAST ERROR", detail -> detail.message().lastError())
            .with("payloadBytes", "PAYLOAD BYTES", detail -> payload(detail).size())
            .with("contentType", "CONTENT TYPE", detail -> payload(detail).contentType())
            .detail("seq", detail -> Long.toString(detail.message().seq()))
            .detail("headers", detail -> message(detail).headers())
            .detail(
                    "waits",
                    detail -> detail.waits().stream().map(ShowCommand::members).toList());

    private static final Columns<MessageDetail> WITH_PAYLOAD = DETAIL.detail(
                    "payload", detail -> text(payload(detail)).orElse(null))
            .detail("payloadBase64", detail -> text(payload(detail)).isPresent() ? null : base64(payload(detail)));

    @Mixin
    private final Access access;

    @Parameters(paramLabel = "ID", description = "The id of the message.")
    private String id = "";

    @Option(names = "--payload", description = "Show the payload too; in base64 if it is not text.")
    private boolean withPayload;

    @Mixin
    private final OutputOptions output;

    ShowCommand(Access access, OutputOptions output) {
        this.access = access;
        this.output = output;
    }

    @Override
    public Integer call() {
        MessageId wanted = MessageId.of(id);
        return access.admin(admin -> show(admin, wanted));
    }

    private int show(AdminBackend admin, MessageId wanted) {
        AdminBackend.VisibleMessage message = admin.explain(wanted)
                .orElseThrow(() -> CommandFailure.notFound("There is no message " + wanted
                        + ": it was discarded, or it was delivered longer ago than the archive keeps it"));
        MessageDetail detail = message.detail();
        Report report = output.report();
        if (withPayload && message.hidden()) {
            throw CommandFailure.refused("The server does not show payloads to this operator: leave --payload out");
        }
        report.details(withPayload ? WITH_PAYLOAD : DETAIL, detail);
        message(detail)
                .headers()
                .forEach((name, value) -> report.say("header " + Printable.line(name) + ": " + Printable.line(value)));
        detail.waits().forEach(wait -> report.say(sentence(wait)));
        if (withPayload) {
            report.say("");
            report.say(text(payload(detail)).map(Printable::lines).orElseGet(() -> base64(payload(detail))));
        }
        return ExitCode.OK;
    }

    private static Message message(MessageDetail detail) {
        return detail.message().message();
    }

    private static Payload payload(MessageDetail detail) {
        return message(detail).payload();
    }

    private static @Nullable Integer orNone(int number) {
        return number == 0 ? null : (Integer) number;
    }

    private static Map<String, @Nullable Object> members(Wait wait) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("cause", wait.cause());
        members.put("until", wait.until());
        members.put("behind", wait.behind());
        return members;
    }

    /** Says what a message waits for, and what an operator can do about it. */
    static String sentence(Wait wait) {
        String time = wait.until() == null ? "" : " " + Words.of(wait.until());
        return "waits for "
                + switch (wait.cause()) {
                    case OPERATOR -> "an operator: replay, or discard";
                    case PAUSED_TOPIC -> "its paused topic: resume it";
                    case NO_NODE -> "a node: no live node delivers its topic";
                    case BLOCKED_KEY ->
                        "the head of its blocked key, " + wait.behind()
                                + (time.isEmpty() ? "" : ", which is attempted next at" + time);
                    case EARLIER_MESSAGE -> "the earlier message " + wait.behind() + " of its key";
                    case DUE_TIME -> "its due time" + time;
                    case DELIVERY -> "the end of its delivery, or of the lease of its node" + time;
                };
    }

    /** Returns the text of a payload; empty if its bytes are no text. */
    private static Optional<String> text(Payload payload) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(payload.bytes()))
                    .toString());
        } catch (CharacterCodingException e) {
            return Optional.empty();
        }
    }

    private static String base64(Payload payload) {
        return Base64.getEncoder().encodeToString(payload.bytes());
    }
}
