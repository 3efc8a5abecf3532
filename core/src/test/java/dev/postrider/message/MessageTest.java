package dev.postrider.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidMessageException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("NullAway") // What happens to nulls is part of the subject.
class MessageTest {

    private static Message.Builder message() {
        return Message.to("orders").type("order.placed").json("{}");
    }

    private static void assertRefused(String field, Runnable code) {
        assertThatThrownBy(code::run)
                .isInstanceOfSatisfying(
                        InvalidMessageException.class,
                        e -> assertThat(e.field()).isEqualTo(field))
                .hasMessageStartingWith(field + " ");
    }

    record TextField(
            String name, int limit, boolean required, BiFunction<Message.Builder, String, Message.Builder> setter) {}

    private static Stream<Named<TextField>> fields() {
        return Stream.of(
                        new TextField("type", 255, true, Message.Builder::type),
                        new TextField("tenant", 255, false, Message.Builder::tenant),
                        new TextField("key", 255, false, Message.Builder::key),
                        new TextField(
                                "idempotency key", 255, false, (Message.Builder b, String t) -> b.idempotencyKey(t)),
                        new TextField("correlation id", 255, false, Message.Builder::correlationId),
                        new TextField("causation id", 255, false, Message.Builder::causationId),
                        new TextField("source", 500, false, Message.Builder::source),
                        new TextField("subject", 500, false, Message.Builder::subject))
                .map(field -> Named.of(field.name(), field));
    }

    private static Stream<Arguments> fieldsAndBadTexts() {
        return fields().flatMap(field -> Stream.of(
                        "",
                        " ",
                        "\u2003",
                        "x".repeat(field.getPayload().limit() + 1),
                        "x".repeat(1_000_000),
                        "a\nb",
                        "a\rb",
                        "a\tb",
                        "a\u0000b",
                        "a\u001b[31m",
                        "a\u007f",
                        "a\u0085",
                        "a\ud83d",
                        "\ude00a",
                        "\ude00\ud83d")
                .map(text -> Arguments.of(field, text)));
    }

    @ParameterizedTest
    @MethodSource("fieldsAndBadTexts")
    void badTextsAreRefusedAndTheFieldIsNamed(TextField field, String text) {
        Message.Builder builder = field.setter().apply(message(), text);

        assertRefused(field.name(), builder::build);
        assertThatThrownBy(builder::build)
                .extracting(Throwable::getMessage)
                .asString()
                .hasSizeLessThan(200)
                .doesNotContainPattern("\\p{Cc}");
    }

    @ParameterizedTest
    @MethodSource("fields")
    void textsUpToTheLimitAndOfAnyScriptAreTaken(TextField field) {
        for (String text :
                new String[] {"x", "x".repeat(field.limit()), "İstanbul ı 😀", " x ", "e\u0301", "' OR 1=1 --"}) {
            Message.Builder builder = field.setter().apply(message(), text);
            if (field.name().equals("source") && !text.startsWith("x")) {
                assertRefused("source", builder::build); // a URI reference is ASCII without blanks
            } else {
                assertThat(builder.build()).isNotNull();
            }
        }
    }

    @Test
    void expiryIsLaterThanTheDeliveryTimeAndMayBePast() {
        Instant noon = Instant.parse("2026-03-04T12:00:00.123456789Z");

        assertThat(message().expiresAt(noon).build().expiresAt())
                .isEqualTo(Instant.parse("2026-03-04T12:00:00.123456Z"));
        assertThat(message().deliverAt(noon).expiresAt(noon.plusNanos(1000)).build())
                .isNotNull();
        assertRefused(
                "expires-at", () -> message().deliverAt(noon).expiresAt(noon).build());
        assertRefused(
                "expires-at",
                () -> message().expiresAt(Instant.EPOCH.minusSeconds(1)).build());
    }

    @ParameterizedTest
    @MethodSource("fields")
    void onlyRequiredTextsMustBeThere(TextField field) {
        Message.Builder builder = field.setter().apply(message(), null);

        if (field.required()) {
            assertRefused(field.name(), builder::build);
        } else {
            assertThat(builder.build()).isNotNull();
        }
    }

    @Test
    void textsAreKeptAsTheyAre() {
        assertThat(message().key("A ").build().key()).isEqualTo("A ");
        assertThat(message().key("e\u0301").build())
                .extracting(Message::key)
                .isNotEqualTo(message().key("\u00e9").build().key());
    }

    @Test
    void missingPartsAreNamed() {
        assertRefused("topic", () -> Message.to((String) null));
        assertRefused(
                "topic", () -> Message.to((TopicName) null).type("t").text("").build());
        assertRefused("topic", () -> Message.to(""));
        assertRefused("type", () -> Message.to("orders").text("x").build());
        assertRefused("payload", () -> Message.to("orders").type("t").build());
        assertRefused("payload", () -> message().payload(null).build());
        assertRefused("payload", () -> message().json(null).build());
        assertRefused("payload", () -> message().bytes(null, "x/y").build());
    }

    @Test
    void theConstructorChecksAsTheBuilderDoes() {
        Message good = message().build();
        assertRefused("id", () -> with(good, null, Map.of(), good.occurredAt()));
        assertRefused("headers", () -> with(good, good.id(), null, good.occurredAt()));
        assertRefused("occurred-at", () -> with(good, good.id(), Map.of(), null));
    }

    private static Message with(Message m, MessageId id, Map<String, String> headers, Instant occurredAt) {
        return new Message(
                id,
                m.topic(),
                m.type(),
                null,
                null,
                null,
                m.payload(),
                headers,
                null,
                null,
                null,
                occurredAt,
                null,
                null,
                null,
                null);
    }

    @Test
    void contentTypeThatHttpCannotCarryIsRefusedWhenTheMessageIsBuilt() {
        assertRefused(
                "content type",
                () -> Message.to("t").type("x").bytes(new byte[1], "é; ☃").build());
    }

    @Test
    void eachMessageOfABuilderHasAnIdOfItsOwn() {
        Message.Builder builder = message();

        assertThat(builder.build().id()).isNotEqualTo(builder.build().id());
        MessageId id = MessageId.next();
        assertThat(builder.id(id).build().id()).isEqualTo(id);
    }

    @Test
    void aMessageDoesNotChangeWithItsBuilder() {
        Message.Builder builder = message().header("a", "1");
        Message first = builder.build();
        builder.header("b", "2").key("k");

        assertThat(first.headers()).isEqualTo(Map.of("a", "1"));
        assertThat(first.key()).isNull();
    }

    @Test
    void theEffectiveKeyIsTheIdempotencyKeyOrTheId() {
        UUID key = DeterministicKey.of("t", "c", "e", "k", 1);
        Message plain = message().build();

        assertThat(message().idempotencyKey(key).build().effectiveKey()).isEqualTo(key.toString());
        assertThat(plain.effectiveKey()).isEqualTo(plain.id().toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1000000000-01-01T00:00:00Z",
                "+1000000000-12-31T23:59:59.999999999Z",
                "1969-12-31T23:59:59.999999999Z",
                "+10000-01-01T00:00:00Z",
                "9999-12-31T23:59:59.999999999Z",
                "0001-01-01T00:00:00Z"
            })
    void timesOutsideOfWhatDatabasesKeepAreRefused(String time) {
        assertRefused(
                "deliver-at", () -> message().deliverAt(Instant.parse(time)).build());
        assertRefused(
                "occurred-at", () -> message().occurredAt(Instant.parse(time)).build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-10-25T00:30:00Z"})
    void timesWithinAreKept(String time) {
        assertThat(message().deliverAt(Instant.parse(time)).build().deliverAt()).isEqualTo(time);
        assertThat(message().occurredAt(Instant.parse(time)).build().occurredAt())
                .isEqualTo(time);
    }

    @Test
    void timesAreCutToTheMicrosecond() {
        Instant time = Instant.parse("2026-03-01T12:00:00.123456789Z");
        Message message = message().occurredAt(time).deliverAt(time).build();

        assertThat(message.occurredAt()).isEqualTo("2026-03-01T12:00:00.123456Z");
        assertThat(message.deliverAt()).isEqualTo("2026-03-01T12:00:00.123456Z");
    }

    @Test
    void headersAreSortedAndCannotBeChanged() {
        Map<String, String> given = new LinkedHashMap<>();
        given.put("x-b", "2");
        given.put("x-a", "");
        Message message = message().headers(given).build();

        assertThat(message.headers()).containsExactly(Map.entry("x-a", ""), Map.entry("x-b", "2"));
        assertThatThrownBy(() -> message.headers().put("x-c", "3")).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                "a:b",
                "a\r\nb",
                "a\u0000",
                "ş",
                "😀",
                "a\"b",
                "(a)",
                "Authorization",
                "HOST",
                "Content-Length",
                "ce-id",
                "CE_type",
                "webhook-id",
                "Webhook-Signature",
                "postrider-attempt",
                "Idempotency-Key",
                "traceparent",
                "Transfer-Encoding",
                "cookie"
            })
    void headerNamesThatAreNoneOrReservedAreRefused(String name) {
        assertRefused("header name", () -> message().header(name, "x").build());
    }

    @Test
    void headerNamesAreLimitedInLengthAndMustBeThere() {
        assertThat(message().header("x".repeat(100), "1").build()).isNotNull();
        assertRefused(
                "header name", () -> message().header("x".repeat(101), "1").build());
        assertRefused("header name", () -> message().header(null, "1").build());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nX-Evil: 1", "a\nb", "a\u0000", "\u001b[2J", "a\ud83d"})
    void headerValuesThatCouldSplitARequestAreRefused(String value) {
        assertRefused("header 'x-a'", () -> message().header("x-a", value).build());
    }

    @Test
    void headerValuesAreLimitedInLengthAndMustBeThere() {
        assertThat(message().header("x-a", "😀".repeat(2048)).build()).isNotNull();
        assertRefused(
                "header 'x-a'", () -> message().header("x-a", "x".repeat(4097)).build());
        assertRefused("header 'x-a'", () -> message().header("x-a", null).build());
    }

    @Test
    void headersAreLimitedInNumberAndSize() {
        assertThat(message().headers(numbered(100, 1)).build().headers()).hasSize(100);
        assertRefused("headers", () -> message().headers(numbered(101, 1)).build());
        assertRefused("headers", () -> message().headers(numbered(10_000, 1)).build());
        assertRefused("headers", () -> message().headers(numbered(50, 400)).build());
    }

    private static Map<String, String> numbered(int count, int size) {
        Map<String, String> headers = new HashMap<>();
        for (int i = 0; i < count; i++) {
            headers.put("x-" + i, "v".repeat(size));
        }
        return headers;
    }

    @Test
    void headerNamesThatDifferInCaseAloneAreRefused() {
        assertThatThrownBy(() -> message().header("X-A", "1").header("x-a", "2").build())
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("is there twice");
    }

    @Test
    void receivedMessageHasTheIdOfItsSender() {
        Message message =
                Message.received("checkout", "checkout-17").type("t").json("1").build();

        assertThat(message.id()).isEqualTo(MessageId.named("checkout-17"));
        assertThat(message.topic()).isEqualTo(TopicName.of("checkout"));
        assertRefused("id", () -> Message.received("checkout", " "));
    }

    @Test
    void consequenceTakesFromItsCauseWhatItDoesNotSayItself() {
        TraceContext trace = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b");
        TraceContext own = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01", null);
        Message root = message().build();
        Message cause = message().correlationId("talk").trace(trace).build();

        Message plain = message().build();
        assertThat(plain.causedBy(root).correlationId()).isEqualTo(root.id().toString());
        assertThat(plain.causedBy(root).causationId()).isEqualTo(root.id().toString());
        assertThat(plain.causedBy(root).trace()).isNull();
        assertThat(plain.causedBy(cause).correlationId()).isEqualTo("talk");
        assertThat(plain.causedBy(cause).causationId()).isEqualTo(cause.id().toString());
        assertThat(plain.causedBy(cause).trace()).isEqualTo(trace);
        assertThat(plain.causedBy(cause).id()).isEqualTo(plain.id());

        Message decided =
                message().correlationId("mine").causationId("me").trace(own).build();
        assertThat(decided.causedBy(cause)).isEqualTo(decided);
    }

    @Test
    void traceContextIsAddedUnlessThereIsOne() {
        TraceContext trace = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b");
        TraceContext own = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01", null);
        Message plain = message().build();
        Message decided = message().trace(own).build();

        assertThat(plain.tracedBy(trace).trace()).isEqualTo(trace);
        assertThat(plain.tracedBy(trace).id()).isEqualTo(plain.id());
        assertThat(decided.tracedBy(trace)).isSameAs(decided);
    }

    @Test
    void itsTextShowsNeitherPayloadNorHeaders() {
        Message message =
                message().json("{\"card\":\"4111\"}").header("x-card", "4111").build();

        assertThat(message.toString()).doesNotContain("4111").contains("orders", "order.placed", "15 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/shop", "urn:shop:orders", "https://shop.example/a?b=c#d", "shop", "../a", "#x"})
    void sourceIsAUriReference(String source) {
        assertThat(Message.to("orders")
                        .type("t")
                        .text("x")
                        .source(source)
                        .build()
                        .source())
                .isEqualTo(source);
    }

    @ParameterizedTest
    @ValueSource(strings = {"the shop", "http://", "a|b", "%zz", "http://şile.example/", "<shop>", ":x"})
    void sourceThatIsNoUriReferenceIsRefused(String source) {
        Message.Builder message = Message.to("orders").type("t").text("x").source(source);
        assertThatThrownBy(message::build)
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("source")
                .hasMessageContaining("URI reference");
    }
}
