package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Paths, queries, bodies and methods that are wrong: each is refused with a problem that names what is wrong. */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class BadInputTest {

    private static final String ID = "0190c2f0-0000-7000-8000-000000000000";

    /** Shared, because no request changes it. */
    private static final Fixture FIXTURE = Fixture.onH2();

    private final Server.Running running;
    private final Client client;

    BadInputTest(Server server) throws Exception {
        running = server.start(FIXTURE.api().build());
        client = running.client(Fixture.ADMIN);
    }

    @AfterEach
    void close() {
        running.close();
    }

    /** Sends the path as it is: a client library would change it. */
    private int status(String path) throws Exception {
        List<Integer> statuses = RawSocket.send(
                        running.port(),
                        "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer "
                                + Fixture.ADMIN + "\r\n\r\n")
                .statuses();
        assertThat(statuses).as(path).hasSize(1);
        return statuses.get(0);
    }

    @Test
    void pathIsComparedAsItIsSent() throws Exception {
        String prefix = Server.PREFIX;
        assertThat(status(prefix + "/v1/me")).isEqualTo(200);
        for (String path : List.of(
                prefix + "/v1/me/",
                prefix + "/v1//me",
                prefix + "//v1/me",
                prefix + "/v1/./me",
                prefix + "/v1/topics/../me",
                prefix + "/../admin/v1/me",
                prefix + "/v1/%6de",
                prefix + "/v1%2fme",
                prefix + "/v1%2Fme",
                prefix + "/v1%252fme",
                prefix + "/v1/topics/..%2fme",
                prefix + "/v1/topics/%2e%2e/me",
                prefix + "/v1/me;jsessionid=1",
                prefix + "/v1;x=y/me",
                prefix + "/v1/me%00",
                prefix + "/v1/me%0d%0aX-Injected:%201",
                prefix + "/V1/me",
                prefix + "/v1/null",
                prefix + "/v1",
                prefix + "/",
                prefix,
                prefix + "istration/v1/me",
                prefix + "/v1/messages/" + ID + "/../" + ID,
                "/ops/admi%6e/v1/me",
                "/v1/me",
                "*")) {
            assertThat(status(path)).as(path).isIn(400, 404);
        }
    }

    @Test
    void idIsAUuidOfThirtySixCharacters() throws Exception {
        for (String id : List.of("1", "null", "1-1-1-1-1", ID + "0", "..", "%00", "__proto__", "x".repeat(10_000))) {
            assertThat(status(Server.PREFIX + "/v1/messages/" + id)).as(id).isIn(400, 404, 414);
            assertThat(status(Server.PREFIX + "/v1/commands/" + id)).as(id).isIn(400, 404, 414);
        }
        assertThat(client.get("/v1/messages/1-1-1-1-1").json())
                .containsEntry("code", "bad-input")
                .containsEntry("field", "id");
    }

    @Test
    void parameterThatIsUnknownRepeatedOrOfAnotherTypeIsNamed() throws Exception {
        List<String> unexpected = new ArrayList<>();
        for (String query : List.of(
                "limit=0|limit",
                "limit=-1|limit",
                "limit=1001|limit",
                "limit=1000000000|limit",
                "limit=99999999999999999999|limit",
                "limit=1.5|limit",
                "limit=|limit",
                "limit=1&limit=2|limit",
                "cursor=x|cursor",
                "cursor=m99999999999999999999|cursor",
                "cursor=a253402300800000000.1|cursor",
                "cursor=m1'|cursor",
                "tennant=acme|tennant",
                "constructor=1|constructor",
                "state=unknown|state",
                "state=DEAD|state",
                "state=dead,parked|state",
                "id=1|id",
                "order=seq;DROP|order",
                "sort=seq|sort",
                "offset=1000000|offset",
                "topic=a/b/c|topic",
                "topic=..|topic",
                "topic=%00|topic",
                "topic=javascript:alert|topic",
                "namespace=|namespace",
                "tenant=%20|tenant",
                "key=%0a|key",
                "minAttempts=0|minAttempts",
                "minAttempts=x|minAttempts",
                "createdFrom=2026-11-01|createdFrom",
                "createdFrom=2026-11-01T02:30:00|createdFrom",
                "createdFrom=2026-11-02T00:00:00Z&createdTo=2026-11-01T00:00:00Z|createdFrom",
                "dueTo=-999999999-01-01T00:00:00Z|dueTo",
                "deliveredFrom=%2B10000-01-01T00:00:00Z|deliveredFrom",
                "days=99999999|days")) {
            String[] parts = query.split("\\|");
            Client.Answer answer = client.get("/v1/messages?" + parts[0]);
            if (!answer.outcome().equals("400 bad-input") || !parts[1].equals(answer.member("field"))) {
                unexpected.add(query + ": " + answer.body());
            }
        }
        assertThat(unexpected).isEmpty();
    }

    @Test
    void queryThatIsNoEncodedTextIsRefused() throws Exception {
        for (String query :
                List.of("type=%ff%fe", "type=%c0%af", "type=%ed%a0%80", "type=%zz", "type=%4", "type", "%ff=1")) {
            assertThat(status(Server.PREFIX + "/v1/messages?" + query))
                    .as(query)
                    .isEqualTo(400);
        }
        assertThat(status(Server.PREFIX + "/v1/messages?type=" + "x".repeat(5000)))
                .isEqualTo(400);
        assertThat(client.get("/v1/messages?" + "id=" + ID + ("&id=" + ID).repeat(1100))
                        .status())
                .isIn(400, 414, 431);
    }

    @Test
    void wildcardsAndQuotesAreTextsLikeOthers() throws Exception {
        for (String text : List.of("%25", "_", "'%3B+DROP+TABLE+postrider_message%3B--", "(a%2B)%2B%24")) {
            Client.Answer answer = client.get("/v1/messages?error=" + text + "&type=" + text);
            assertThat(answer.body()).isEqualTo("{\"items\":[],\"next\":null,\"cut\":false}");
        }
    }

    @Test
    void bodyIsOneJsonObjectOfKnownMembers() throws Exception {
        String deep = "{\"filter\":" + "[".repeat(100) + "]".repeat(100) + "}";
        List<String> unexpected = new ArrayList<>();
        for (String body : List.of(
                "",
                "null",
                "[]",
                "\"topic\"",
                "{",
                "{\"topic\":\"orders\"",
                "{\"topic\":\"orders\"}}",
                "{\"topic\":\"orders\",\"topic\":\"empty\"}",
                "{\"topic\":\"orders\",\"TOPIC\":\"empty\"}",
                "{\"topic\":\"orders\",\"__proto__\":{}}",
                "{\"topic\":{}}",
                "{\"topic\":[\"orders\"]}",
                "{\"topic\":1}",
                "{\"topic\":true}",
                "{\"topic\":null}",
                "{\"topic\":\"\"}",
                "{\"topic\":\"or\u0000ders\"}",
                "{\"topic\":\"\\ud800\"}",
                "{\"topic\":\"orders\",\"reason\":\"a\\nb\"}",
                "{\"topic\":\"orders\",\"reason\":\"" + "x".repeat(1001) + "\"}",
                "{\"topic\":1e999999999}",
                "\uFEFF{\"topic\":\"orders\"}",
                "{'topic':'orders'}",
                deep)) {
            Client.Answer answer = client.post("/v1/topics/pause", body);
            if (!answer.outcome().equals("400 bad-input")) {
                unexpected.add(body + ": " + answer.body());
            }
        }
        assertThat(unexpected).isEmpty();
        assertThat(FIXTURE.admin().status()).noneMatch(topic -> topic.paused());
    }

    @Test
    void actionNamesWhatIsWrongInItsFilter() throws Exception {
        String action = "{\"action\":\"replay\",\"dryRun\":false,\"filter\":";
        for (String body : List.of(
                action + "{\"state\":[\"pending\"]}}|filter",
                action + "{\"id\":[]}}|id",
                action + "{\"id\":[null]}}|id",
                action + "{\"limit\":5}}|limit",
                action + "{},\"limit\":10001}|limit",
                action + "{},\"cursor\":\"a\"}|cursor",
                action + "7}|filter",
                "{\"action\":\"replay\",\"filter\":{}}|dryRun",
                "{\"action\":\"replay\",\"dryRun\":false}|filter",
                "{\"action\":\"purge\",\"dryRun\":false,\"filter\":{}}|action")) {
            String[] parts = body.split("\\|");
            assertThat(client.post("/v1/messages/actions", parts[0]).json())
                    .as(body)
                    .containsEntry("status", 400L)
                    .containsEntry("field", parts[1]);
        }
    }

    @Test
    void largeBodyIsNotRead() throws Exception {
        String large = "{\"topic\":\"" + "x".repeat(300_000) + "\"}";
        RawSocket.Received received = RawSocket.send(
                running.port(),
                "POST /ops/admin/v1/topics/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + Fixture.ADMIN
                        + "\r\nPostrider-Admin: 1\r\nContent-Type: application/json\r\nContent-Length: 2000000000\r\n\r\n"
                        + large);
        assertThat(received.statuses()).containsExactly(413);
        assertThat(client.post("/v1/topics/pause", large).outcome()).isEqualTo("413 too-large");
        assertThat(client.post("/v1/topics/pause", "{}", "Content-Encoding", "gzip")
                        .outcome())
                .isEqualTo("415 media-type");
        assertThat(client.send("POST", "/v1/topics/pause", "{}", "Postrider-Admin", "1")
                        .outcome())
                .isEqualTo("415 media-type");
        assertThat(client.send(
                                "POST",
                                "/v1/topics/pause",
                                "{}",
                                "Postrider-Admin",
                                "1",
                                "Content-Type",
                                "application/json; charset=utf-16")
                        .outcome())
                .isEqualTo("415 media-type");
    }

    @Test
    void bodyThatIsNotUtf8IsRefused() throws Exception {
        String body = new String(new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'}, ISO_8859_1);
        RawSocket.Received received = RawSocket.send(
                running.port(),
                "POST /ops/admin/v1/topics/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + Fixture.ADMIN
                        + "\r\nPostrider-Admin: 1\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body);
        assertThat(received.statuses()).containsExactly(400);
        assertThat(received.text()).contains("The body is not UTF-8");
    }

    @Test
    void otherMethodsAreRefusedAndNoHeaderChangesTheMethod() throws Exception {
        for (String method : List.of("PUT", "DELETE", "PATCH", "OPTIONS", "POST")) {
            Client.Answer answer = client.send(method, "/v1/topics", "");
            assertThat(answer.outcome()).as(method).isEqualTo("405 method-not-allowed");
            assertThat(answer.header("Allow")).isEqualTo("GET, HEAD");
        }
        Client.Answer overridden = client.get("/v1/topics/pause", "X-HTTP-Method-Override", "POST");
        assertThat(overridden.outcome()).isEqualTo("405 method-not-allowed");
        assertThat(overridden.header("Allow")).isEqualTo("POST");
        assertThat(client.get("/v1/me?_method=POST").outcome()).isEqualTo("400 bad-input");
        Client.Answer head = client.send("HEAD", "/v1/me", "");
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
        assertThat(client.post("/v1/topics/pause?topic=orders", "{}").outcome()).isEqualTo("400 bad-input");
    }

    @Test
    void answerIsJsonOrNothing() throws Exception {
        for (String accept : List.of("text/html", "application/xml", "text/event-stream", "image/*")) {
            assertThat(client.get("/v1/me", "Accept", accept).outcome()).isEqualTo("406 not-acceptable");
        }
        for (String accept : List.of("application/json", "application/*;q=0.5", "text/html, */*;q=0.1")) {
            assertThat(client.get("/v1/me", "Accept", accept).status()).isEqualTo(200);
        }
    }

    @Test
    void hugeHeadersAreRefused() throws Exception {
        Client.Answer answer = client.get("/v1/me", "X-Large", "x".repeat(20_000));
        assertThat(answer.status()).isEqualTo(431);
        RawSocket.Received received = RawSocket.send(
                running.port(),
                "GET /ops/admin/v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Injected: a\rb\0c\r\n\r\n");
        assertThat(received.statuses()).hasSizeLessThanOrEqualTo(1).allMatch(status -> status >= 400);
    }
}
