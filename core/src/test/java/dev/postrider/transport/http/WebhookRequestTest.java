package dev.postrider.transport.http;

import static dev.postrider.transport.http.Deliveries.NOON;
import static dev.postrider.transport.http.Deliveries.deliver;
import static dev.postrider.transport.http.Deliveries.errorOf;
import static dev.postrider.transport.http.Deliveries.order;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.Message;
import dev.postrider.message.Payload;
import dev.postrider.message.TraceContext;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.http.Receiver.Received;
import java.net.URI;
import java.net.URLDecoder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WebhookRequestTest {

    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final String OLD_SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";

    private final Receiver receiver = new Receiver();
    private final Webhook webhook = Webhook.toInternal(receiver.uri());

    @AfterEach
    void stop() {
        receiver.close();
    }

    @Test
    void postsThePayloadByteForByte() {
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Message message = order().bytes(bytes, "application/octet-stream").build();

        assertThat(deliver(webhook, message)).isEqualTo(DeliveryResult.delivered());

        Received request = receiver.only();
        assertThat(request.method()).isEqualTo("POST");
        assertThat(request.target()).hasToString("/hook?x=1");
        assertThat(request.body()).isEqualTo(bytes);
        assertThat(request.header("Content-Type")).isEqualTo("application/octet-stream");
        assertThat(request.header("User-Agent")).isEqualTo("postrider");
    }

    @Test
    void postsAnEmptyPayload() {
        assertThat(deliver(webhook, order().text("").build())).isEqualTo(DeliveryResult.delivered());
        assertThat(receiver.only().body()).isEmpty();
    }

    @Test
    void binaryModePutsTheAttributesInHeaders() {
        Message message = order().key("order-7")
                .subject("order/7")
                .source("/shop")
                .correlationId("corr")
                .causationId("cause")
                .tenant("acme")
                .expiresAt(Instant.parse("2026-03-01T13:00:00Z"))
                .build();

        deliver(webhook, message);

        Received request = receiver.only();
        assertThat(request.header("ce-specversion")).isEqualTo("1.0");
        assertThat(request.header("ce-id")).isEqualTo(message.id().toString());
        assertThat(request.header("ce-source")).isEqualTo("/shop");
        assertThat(request.header("ce-type")).isEqualTo("order.placed");
        assertThat(request.header("ce-time")).isEqualTo("2026-03-01T12:00:00Z");
        assertThat(request.header("ce-subject")).isEqualTo("order/7");
        assertThat(request.header("ce-partitionkey")).isEqualTo("order-7");
        assertThat(request.header("ce-correlationid")).isEqualTo("corr");
        assertThat(request.header("ce-causationid")).isEqualTo("cause");
        assertThat(request.header("ce-tenant")).isEqualTo("acme");
        assertThat(request.header("ce-expirytime")).isEqualTo("2026-03-01T13:00:00Z");
        assertThat(request.header("postrider-tenant")).isEqualTo("acme");
        assertThat(request.header("Content-Type")).isEqualTo("application/json");
    }

    @Test
    void absentAttributesHaveNoHeader() {
        deliver(webhook);

        assertThat(receiver.only().headers().keySet())
                .noneMatch(name -> name.endsWith("tenant")
                        || name.equalsIgnoreCase("ce-subject")
                        || name.equalsIgnoreCase("ce-partitionkey"));
    }

    @Test
    void theSourceIsTheMessagesOrTheConfiguredOrTheNamespaces() {
        deliver(webhook);
        deliver(webhook.source(URI.create("https://shop.example/orders")));
        deliver(
                webhook.source(URI.create("https://shop.example/orders")),
                order().source("urn:mine").build());
        deliver(webhook, Message.to("sales/orders").type("t").text("x").build());

        assertThat(receiver.received())
                .extracting(request -> request.header("ce-source"))
                .containsExactly(
                        "urn:postrider:default", "https://shop.example/orders", "urn:mine", "urn:postrider:sales");
    }

    @Test
    void attributesArePercentEncodedAsTheHttpBindingSays() {
        deliver(webhook, order().key("Euro € \"50%\" 😀").build());

        assertThat(receiver.only().header("ce-partitionkey"))
                .isEqualTo("Euro%20%E2%82%AC%20%2250%25%22%20%F0%9F%98%80");
    }

    @Test
    void messageHeadersTravelAndThoseHttpCannotCarryAreEncoded() {
        deliver(
                webhook,
                order().header("x-plain", "50% off, \"today\"")
                        .header("x-city", "Şile 1")
                        .build());

        assertThat(receiver.only().header("x-plain")).isEqualTo("50%25 off, \"today\"");
        assertThat(receiver.only().header("x-city")).isEqualTo("%C5%9Eile 1");
    }

    @Test
    void headersThatDifferStayDifferentAndDecodeToWhatTheyWere() {
        List<String> values =
                List.of("Şile", "%C5%9Eile", "%25C5%259Eile", "a", " a", "a ", "%20a", " ", "", "a  b", "50%", "\"\\");
        for (String value : values) {
            deliver(webhook, order().header("x-value", value).build());
        }

        List<String> sent = receiver.received().stream()
                .map(request -> request.header("x-value"))
                .toList();
        assertThat(sent).doesNotHaveDuplicates();
        assertThat(sent)
                .extracting(text -> URLDecoder.decode(text.replace("+", "%2B"), UTF_8))
                .isEqualTo(values);
    }

    @Test
    void idempotencyKeyIsAStructuredFieldString() {
        List<String> keys = List.of("acme;1", "a \"b\" \\c", "Şile", "%C5%9Eile", "k".repeat(255), "ş".repeat(255));
        for (String key : keys) {
            deliver(webhook, order().idempotencyKey(key).build());
        }

        assertThat(receiver.received())
                .extracting(request -> request.header("Idempotency-Key"))
                .containsExactly(
                        "\"acme;1\"",
                        "\"a \\\"b\\\" \\\\c\"",
                        "\"%C5%9Eile\"",
                        "\"%25C5%259Eile\"",
                        '"' + "k".repeat(255) + '"',
                        "\"sha-256:8283d4634cab39d90a64c5b288ddaf86b2ceb723559770a914a9b8fdf9c40871\"");
    }

    @Test
    void structuredModeHasTheTenant() {
        deliver(webhook.structured(), order().tenant("Şile \"1\"").build());

        assertThat(receiver.only().text()).contains("\"tenant\":\"Şile \\\"1\\\"\"");
        assertThat(receiver.only().header("postrider-tenant")).isEqualTo("%C5%9Eile%20%221%22");
    }

    /** Libraries that read the body as a text before they check its signature can check this one. */
    @Test
    void structuredBodyIsUtf8WhateverThePayload() {
        byte[] bytes = {(byte) 0xff, 0, 1};
        deliver(
                webhook.structured(),
                order().bytes(bytes, "application/octet-stream").build());

        byte[] body = receiver.only().body();
        assertThat(new String(body, UTF_8).getBytes(UTF_8)).isEqualTo(body);
    }

    @Test
    void aConfiguredHeaderComesBeforeTheMessages() {
        deliver(
                webhook.header("X-Shop", "configured").header("Authorization", "Bearer abc"),
                order().header("x-shop", "message").build());

        assertThat(receiver.only().headers().get("X-Shop")).containsExactly("configured");
        assertThat(receiver.only().header("Authorization")).isEqualTo("Bearer abc");
    }

    @Test
    void traceContextTravels() {
        String traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        deliver(
                webhook,
                order().trace(new TraceContext(traceparent, "congo=t61rcWkgMzE"))
                        .build());

        assertThat(receiver.only().header("traceparent")).isEqualTo(traceparent);
        assertThat(receiver.only().header("tracestate")).isEqualTo("congo=t61rcWkgMzE");
    }

    @Test
    void headersHaveTheTraceOfTheAttemptAndTheEventThatOfItsCreation() {
        TraceContext creation = new TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=b");
        TraceContext attempt = new TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01", null);
        Message message = order().trace(creation).build();

        deliver(webhook, new Delivery(message, 1, attempt));
        deliver(webhook.structured(), new Delivery(message, 1, attempt));

        Received binary = receiver.received().get(0);
        assertThat(binary.header("traceparent")).isEqualTo(attempt.traceparent());
        assertThat(binary.headers()).doesNotContainKey("Tracestate");
        assertThat(binary.header("ce-traceparent")).isEqualTo(creation.traceparent());
        assertThat(binary.header("ce-tracestate")).isEqualTo("a=b");
        Received structured = receiver.received().get(1);
        assertThat(structured.header("traceparent")).isEqualTo(attempt.traceparent());
        assertThat(new String(structured.body(), UTF_8))
                .contains("\"traceparent\":\"" + creation.traceparent() + "\"", "\"tracestate\":\"a=b\"");
    }

    @Test
    void retriesKeepTheIdAndTheKeyAndChangeAttemptTimeAndSignature() {
        Message message = order().idempotencyKey("once").build();
        Webhook signed = webhook.signedWith(SECRET);

        deliver(signed.clock(InstantSource.fixed(NOON)), new Delivery(message, 1));
        deliver(signed.clock(InstantSource.fixed(NOON.plus(Duration.ofHours(1)))), new Delivery(message, 2));

        Received first = receiver.received().get(0);
        Received second = receiver.received().get(1);
        assertThat(first.header("webhook-id"))
                .isEqualTo(message.id().toString())
                .isEqualTo(second.header("webhook-id"));
        assertThat(first.header("Idempotency-Key")).isEqualTo("\"once\"").isEqualTo(second.header("Idempotency-Key"));
        assertThat(first.header("postrider-attempt")).isEqualTo("1");
        assertThat(second.header("postrider-attempt")).isEqualTo("2");
        assertThat(first.header("webhook-timestamp")).isEqualTo(Long.toString(NOON.getEpochSecond()));
        assertThat(second.header("webhook-timestamp")).isEqualTo(Long.toString(NOON.getEpochSecond() + 3600));
        assertThat(first.header("webhook-signature")).isNotEqualTo(second.header("webhook-signature"));
    }

    @Test
    void withoutASecretThereIsNoSignature() {
        deliver(webhook);

        assertThat(receiver.only().header("webhook-signature")).isEmpty();
        assertThat(receiver.only().header("webhook-timestamp")).isNotEmpty();
    }

    @Test
    void receiversWithTheOldAndTheNewKeyBothAcceptDuringRotation() {
        Clock clock = Clock.fixed(NOON, ZoneOffset.UTC);
        deliver(webhook.signedWith(SECRET).signedWith(OLD_SECRET).clock(clock));

        Received request = receiver.only();
        assertThat(request.header("webhook-signature").split(" ")).hasSize(2).allMatch(s -> s.startsWith("v1,"));
        for (String key : new String[] {SECRET, OLD_SECRET}) {
            WebhookVerifier verifier = WebhookVerifier.with(clock, key);
            assertThat(verifier.verify(request.headers()::getFirst, request.body())
                            .isValid())
                    .isTrue();
        }
    }

    @Test
    void structuredModeEmbedsJsonAsItIs() {
        String json = " {\"b\":1, \"a\":[1.0e2,\"\\u20AC\"] } ";
        Message message = order().json(json).key("k \"1\"").build();

        deliver(webhook.structured(), message);

        Received request = receiver.only();
        assertThat(request.header("Content-Type")).isEqualTo("application/cloudevents+json");
        assertThat(request.header("ce-id")).isEmpty();
        assertThat(request.text())
                .isEqualTo("{\"specversion\":\"1.0\",\"id\":\"" + message.id()
                        + "\",\"source\":\"urn:postrider:default\",\"type\":\"order.placed\","
                        + "\"time\":\"2026-03-01T12:00:00Z\",\"partitionkey\":\"k \\\"1\\\"\","
                        + "\"datacontenttype\":\"application/json\",\"data\":" + json + "}");
    }

    @Test
    void structuredModeQuotesText() {
        deliver(webhook.structured(), order().text("line\n\"two\" 😀").build());

        assertThat(receiver.only().text())
                .endsWith(",\"datacontenttype\":\"text/plain; charset=utf-8\",\"data\":\"line\\n\\\"two\\\" 😀\"}");
    }

    @Test
    void structuredModeEncodesBytesAndTextThatIsNoUtf8() {
        byte[] bytes = {(byte) 0xff, 0, 1};
        deliver(webhook.structured(), order().bytes(bytes, "image/png").build());
        deliver(webhook.structured(), order().bytes(bytes, "text/plain").build());

        assertThat(receiver.received()).allMatch(request -> request.text().endsWith(",\"data_base64\":\"/wAB\"}"));
    }

    @Test
    void structuredModeLeavesAnEmptyPayloadOut() {
        deliver(webhook.structured(), order().json("").build());

        assertThat(receiver.only().text()).endsWith("\"datacontenttype\":\"application/json\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.shop+json", "text/json"})
    void structuredModeKnowsJsonByItsType(String contentType) {
        deliver(
                webhook.structured(),
                order().bytes("[1]".getBytes(UTF_8), contentType).build());

        assertThat(receiver.only().text()).endsWith(",\"data\":[1]}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"a\":1},\"type\":\"forged\"", "{", "1}", "null,", "{\"a\":1"})
    void brokenJsonCannotBreakTheEnvelope(String json) {
        DeliveryResult result = deliver(webhook.structured(), order().json(json).build());

        assertThat(result).isInstanceOf(DeliveryResult.Rejected.class);
        assertThat(errorOf(result)).contains("the payload says it is JSON, but");
        assertThat(receiver.received()).isEmpty();
    }

    @Test
    void invalidUtf8CannotBeStructuredJson() {
        Message message = order().bytes(new byte[] {'"', (byte) 0xc3, '"'}, "application/json")
                .build();

        assertThat(errorOf(deliver(webhook.structured(), message))).contains("is not UTF-8");
    }

    @Test
    void brokenJsonTravelsInBinaryModeAsItIs() {
        deliver(webhook, order().json("{").build());

        assertThat(receiver.only().text()).isEqualTo("{");
    }

    /** Which cannot be built any more, but may be stored. */
    @Test
    void aContentTypeHttpCannotCarryIsRejected() {
        Message order = order().build();
        Message stored = new Message(
                order.id(),
                order.topic(),
                order.type(),
                null,
                null,
                null,
                Payload.of(new byte[1], "text/şablon"),
                Map.of(),
                null,
                null,
                null,
                order.occurredAt(),
                null,
                null,
                null,
                null);
        DeliveryResult result = deliver(webhook, stored);

        assertThat(result).isInstanceOf(DeliveryResult.Rejected.class);
        assertThat(errorOf(result)).contains("content type");
    }

    @Test
    void theSignatureCoversTheEnvelopeInStructuredMode() {
        Clock clock = Clock.fixed(NOON, ZoneOffset.UTC);
        deliver(webhook.structured().signedWith(SECRET).clock(clock));

        Received request = receiver.only();
        assertThat(WebhookVerifier.with(clock, SECRET).verify(request.headers()::getFirst, request.body()))
                .isEqualTo(WebhookVerifier.Verification.VALID);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host",
                "content-length",
                "Content-Type",
                "CE-ID",
                "webhook-signature",
                "IDEMPOTENCY-KEY",
                "a b",
                ""
            })
    void headersThatAreNotTheUsersAreRefused(String name) {
        assertThatThrownBy(() -> webhook.header(name, "x"))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo("webhook-header"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"secret\r\nX-Evil: 1", "secret\u0000", "secretş"})
    void headerValuesThatCouldSplitARequestAreRefusedWithoutQuotingThem(String value) {
        assertThatThrownBy(() -> webhook.header("Authorization", value))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void aChangedCopyLeavesTheOriginalAlone() {
        Webhook changed = webhook.header("x-a", "1").structured().timeout(Duration.ofSeconds(3));

        assertThat(changed.timeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(webhook.timeout()).isEqualTo(Duration.ofSeconds(15));
        deliver(webhook);
        assertThat(receiver.only().header("x-a")).isEmpty();
    }

    @Test
    void itsTextShowsNeitherPathNorSecrets() {
        Webhook secretive = Webhook.to(URI.create("https://hooks.example/T0KEN?key=T0KEN"))
                .signedWith(SECRET)
                .header("Authorization", "T0KEN");

        assertThat(secretive).hasToString("Webhook to https://hooks.example:443");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.0000001S", "PT11M", "PT2562047788015215H"})
    void timeoutsOutOfBoundsAreRefused(String timeout) {
        assertThatThrownBy(() -> webhook.timeout(Duration.parse(timeout)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("webhook-timeout ");
        assertThatThrownBy(() -> webhook.connectTimeout(Duration.parse(timeout)))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageStartingWith("webhook-connect-timeout ");
    }
}
