package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What a page of another site, or a text in a message, could try in the browser of an operator. */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class CrossSiteTest {

    private static final String PAUSE = "/v1/topics/pause";
    private static final String ORDERS = "{\"topic\":\"orders\"}";
    private static final String[] JSON = {"Content-Type", "application/json"};

    private final Fixture fixture = Fixture.onH2().filled();
    private final Server.Running running;
    private final Client client;

    CrossSiteTest(Server server) throws Exception {
        running = server.start(fixture.api().payloadsFor(Role.VIEWER).build());
        client = running.client(Fixture.ADMIN);
    }

    @AfterEach
    void close() {
        running.close();
        fixture.close();
    }

    private void assertNotPaused() {
        assertThat(fixture.admin().status()).noneMatch(topic -> topic.paused());
    }

    @Test
    void changeNeedsTheHeaderThatAFormCannotSend() throws Exception {
        assertThat(client.send("POST", PAUSE, ORDERS, JSON).outcome()).isEqualTo("403 cross-site");
        assertThat(client.send("POST", PAUSE, ORDERS, "Content-Type", "application/json", "Postrider-Admin", "true")
                        .outcome())
                .isEqualTo("403 cross-site");
        for (String type :
                List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")) {
            assertThat(client.send("POST", PAUSE, ORDERS, "Content-Type", type, "Postrider-Admin", "1")
                            .outcome())
                    .isEqualTo("415 media-type");
        }
        assertNotPaused();
    }

    @Test
    void requestOfAnotherSiteIsRefusedEvenIfItReads() throws Exception {
        for (String site : List.of("cross-site", "same-site", "Same-Origin", "")) {
            assertThat(client.post(PAUSE, ORDERS, "Sec-Fetch-Site", site).outcome())
                    .isEqualTo("403 cross-site");
            assertThat(client.get("/v1/topics", "Sec-Fetch-Site", site).outcome())
                    .isEqualTo("403 cross-site");
        }
        for (String origin : List.of("https://evil.example", "null", "http://localhost:1", "http://localhost")) {
            assertThat(client.post(PAUSE, ORDERS, "Origin", origin).outcome()).isEqualTo("403 cross-site");
        }
        assertNotPaused();
        String own = "http://localhost:" + running.port();
        assertThat(client.post(PAUSE, ORDERS, "Origin", own).status()).isEqualTo(200);
        assertThat(client.post(PAUSE, ORDERS, "Origin", "https://behind.proxy", "Sec-Fetch-Site", "same-origin")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void noOriginGetsPermission() throws Exception {
        Client.Answer preflight = client.send(
                "OPTIONS",
                PAUSE,
                "",
                "Origin",
                "https://evil.example",
                "Access-Control-Request-Method",
                "POST",
                "Access-Control-Request-Headers",
                "postrider-admin,content-type");
        assertThat(preflight.outcome()).isEqualTo("405 method-not-allowed");
        assertThat(preflight.header("Allow")).isEqualTo("POST");
        for (Client.Answer answer : List.of(preflight, client.get("/v1/topics", "Origin", "https://evil.example"))) {
            assertThat(answer.response().headers().map().keySet())
                    .noneMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("access-control"));
        }
    }

    @Test
    void everyAnswerForbidsScriptsFramesCachesAndGuesses() throws Exception {
        for (Client.Answer answer : List.of(
                client.get("/v1/topics"),
                client.get("/v1/nothing"),
                client.post(PAUSE, "{"),
                running.client("").get("/v1/me"))) {
            assertThat(answer.header("Content-Security-Policy"))
                    .isEqualTo("default-src 'none'; frame-ancestors 'none'; sandbox");
            assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
            assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.header("X-Frame-Options")).isEqualTo("DENY");
            assertThat(answer.header("Content-Type")).matches("application/(problem\\+)?json");
        }
    }

    @Test
    void markupInPayloadHeadersKeyAndErrorStaysText() throws Exception {
        Client.Answer detail = client.get("/v1/messages/" + fixture.dead(Fixture.ACME));
        assertThat(detail.body()).doesNotContain("<", ">").contains("\\u003cscript\\u003e");
        assertThat(detail.header("Content-Type")).isEqualTo("application/json");
        Map<String, Object> message = detail.object("message");
        assertThat(message)
                .containsEntry("payload", "payload of acme " + Fixture.SCRIPT)
                .containsEntry("key", "key " + Fixture.SCRIPT)
                .containsEntry("headers", Map.of("x-shown", Fixture.SCRIPT));
        assertThat(String.valueOf(message.get("lastError"))).endsWith(Fixture.SCRIPT);
        for (String path : List.of("/v1/messages", "/v1/failures", "/v1/blocked-keys?topic=accounts")) {
            assertThat(client.get(path).body()).doesNotContain("<", ">").contains("script");
        }
    }

    @Test
    void markupInAnInputIsNotRepeatedAsMarkup() throws Exception {
        for (Client.Answer answer : List.of(
                client.get("/v1/messages?%3Cscript%3E=1"),
                client.get("/v1/messages?state=%3Cscript%3E"),
                client.get("/v1/messages?topic=%3Cscript%3E"),
                client.post(PAUSE, "{\"topic\":\"<script>\"}"),
                client.post(PAUSE, "{\"<script>\":1}"),
                client.post("/v1/messages/%3Cscript%3E/replay", "{}"))) {
            assertThat(answer.status()).isEqualTo(400);
            assertThat(answer.body()).doesNotContain("<");
        }
    }
}
