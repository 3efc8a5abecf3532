package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What operators see and change, over HTTP. */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class AdminApiTest {

    private final Fixture fixture = Fixture.onH2().filled();
    private final Server server;
    private final List<Server.Running> running = new ArrayList<>();

    AdminApiTest(Server server) {
        this.server = server;
    }

    @AfterEach
    void close() {
        for (Server.Running one : running) {
            one.close();
        }
        fixture.close();
    }

    private Client serve(AdminApiBuilder api) throws Exception {
        Server.Running started = server.start(api.build());
        running.add(started);
        return started.client(Fixture.ADMIN);
    }

    @Test
    void operatorIsToldWhatThisServerLetsThemDo() throws Exception {
        Client client = serve(fixture.api().payloadsFor(Role.ADMIN));

        assertThat(client.get("/v1/me").body())
                .isEqualTo(
                        "{\"operator\":\"ada\",\"role\":\"admin\",\"tenant\":null,\"readOnly\":false,\"payloads\":true}");
    }

    @Test
    void topicsAreListedPausedResumedAndRemoved() throws Exception {
        Client client = serve(fixture.api());
        assertThat(client.get("/v1/topics").items("items"))
                .extracting(topic -> topic.get("topic"), topic -> topic.get("dead"), topic -> topic.get("parked"))
                .contains(tuple("orders", 3L, 0L))
                .contains(tuple("accounts", 0L, 3L));
        assertThat(client.get("/v1/topics/lanes?topic=accounts").items("items")).hasSize(2);

        assertThat(client.post("/v1/topics/pause", "{\"topic\":\"orders\",\"reason\":\"moving\"}")
                        .body())
                .isEqualTo("{\"result\":\"done\"}");
        assertThat(fixture.admin().status()).anyMatch(topic -> topic.paused());
        assertThat(client.post("/v1/topics/resume", "{\"topic\":\"orders\"}").status())
                .isEqualTo(200);
        assertThat(fixture.admin().status()).noneMatch(topic -> topic.paused());

        assertThat(client.post("/v1/topics/pause", "{\"topic\":\"unheard-of\"}").outcome())
                .isEqualTo("404 unknown-topic");
        Client.Answer inUse = client.post("/v1/topics/remove", "{\"topic\":\"orders\"}");
        assertThat(inUse.outcome()).isEqualTo("409 in-use");
        assertThat(inUse.member("result")).isEqualTo("in-use");
        assertThat(client.post("/v1/topics/remove", "{\"topic\":\"empty\"}").status())
                .isEqualTo(200);
        assertThat(client.post("/v1/topics/remove", "{\"topic\":\"empty\"}").outcome())
                .isEqualTo("404 not-found");

        List<Map<String, Object>> audit = client.get("/v1/audit?limit=10").items("items");
        assertThat(audit)
                .extracting(entry -> entry.get("operator") + " " + entry.get("action") + " " + entry.get("reason"))
                .containsExactly("ada remove null", "ada resume null", "ada pause moving");
    }

    @Test
    void messagesAreListedByPagesAndConditions() throws Exception {
        Client client = serve(fixture.api());
        List<Object> seen = new ArrayList<>();
        String cursor = "";
        do {
            Client.Answer page = client.get("/v1/messages?limit=2" + cursor);
            page.items("items").forEach(message -> seen.add(message.get("id")));
            Object next = page.json().get("next");
            cursor = next == null ? "" : "&cursor=" + next;
        } while (!cursor.isEmpty());
        assertThat(seen).hasSize(12).doesNotHaveDuplicates();

        assertThat(client.get("/v1/messages?state=dead&state=parked&tenant=acme")
                        .items("items"))
                .extracting(message -> message.get("state"))
                .containsExactlyInAnyOrder("dead", "parked");
        assertThat(client.get(
                                "/v1/messages?error=no+route&topic=orders&minAttempts=1&order=newest&createdFrom=2020-01-01T00:00:00Z")
                        .items("items"))
                .hasSize(3);
        MessageId one = fixture.dead(Fixture.ACME);
        MessageId two = fixture.scheduled(Fixture.ACME);
        assertThat(client.get("/v1/messages?id=" + one + "&id=" + two).items("items"))
                .hasSize(2);
        Client.Answer empty = client.get("/v1/messages?state=delivered");
        assertThat(empty.body()).isEqualTo("{\"items\":[],\"next\":null,\"cut\":false}");
    }

    @Test
    void messageIsShownWithWhatItWaitsFor() throws Exception {
        Client client = serve(fixture.api());
        Client.Answer answer = client.get("/v1/messages/" + fixture.dead(Fixture.ACME));
        assertThat(answer.body()).contains("\"state\":\"dead\"", "\"cause\":\"operator\"", "\"tenant\":\"acme\"");
        assertThat(client.get("/v1/messages/" + MessageId.next()).outcome()).isEqualTo("404 not-found");
    }

    @Test
    void payloadsAndHeadersAreShownToTheChosenRolesAndRedacted() throws Exception {
        String path = "/v1/messages/" + fixture.dead(Fixture.ACME);
        Client hidden = serve(fixture.api());
        assertThat(hidden.get(path).body())
                .contains("\"payloadHidden\":true", "\"headers\":null", "\"payload\":null")
                .doesNotContain("payload of acme", "x-shown");

        Client shown =
                serve(fixture.api().payloadsFor(Role.OPERATOR).redaction((topic, part, text) -> part + " of " + topic));
        assertThat(shown.get(path).body())
                .contains(
                        "\"payloadHidden\":false",
                        "\"headers\":{\"x-shown\":\"HEADER of orders\"}",
                        "\"payload\":\"PAYLOAD of orders\"",
                        "\"lastError\":\"ERROR of orders\"");
        Client viewer = running.get(1).client(Fixture.VIEWER);
        assertThat(viewer.get(path).body()).contains("\"payloadHidden\":true", "\"payload\":null");
        assertThat(viewer.get("/v1/failures").body()).contains("\"error\":\"ERROR of orders\"");
    }

    @Test
    void payloadThatIsNoTextIsShownInBase64() throws Exception {
        Message binary = Message.to("orders")
                .type("bytes")
                .bytes(new byte[] {-1, 0}, "x/y")
                .build();
        fixture.postrider.inTransaction(work -> work.stage(binary));
        Client client = serve(fixture.api().payloadsFor(Role.VIEWER));
        assertThat(client.get("/v1/messages/" + binary.id()).body())
                .contains("\"payload\":null", "\"payloadBase64\":\"/wA=\"");
    }

    @Test
    void oneMessageIsChangedIfItIsAsExpected() throws Exception {
        Client client = serve(fixture.api());
        String path = "/v1/messages/" + fixture.dead(Fixture.ACME);

        Client.Answer wrong = client.post(path + "/replay", "{\"expected\":\"parked\"}");
        assertThat(wrong.outcome()).isEqualTo("409 wrong-state");
        assertThat(wrong.member("result")).isEqualTo("wrong-state");
        assertThat(client.post(path + "/replay", "{\"expected\":\"dead\",\"reason\":\"fixed\"}")
                        .body())
                .isEqualTo("{\"result\":\"done\"}");
        assertThat(client.post(path + "/replay", "").outcome()).isEqualTo("409 wrong-state");
        assertThat(client.post(path + "/explode", "{}").outcome()).isEqualTo("404 no-route");
        assertThat(fixture.admin().audit(Long.MAX_VALUE, 1).get(0).reason()).isEqualTo("fixed");
    }

    @Test
    void selectedMessagesAreCountedAndThenChanged() throws Exception {
        Client client = serve(fixture.api());
        String filter = "\"action\":\"replay\",\"filter\":{\"state\":[\"dead\"],\"topic\":\"orders\"}";

        Client.Answer counted = client.post("/v1/messages/actions", "{" + filter + ",\"dryRun\":true}");
        assertThat(counted.member("changed")).isEqualTo("3");
        assertThat(counted.items("sample")).hasSize(3);
        Client.Answer first = client.post(
                "/v1/messages/actions", "{" + filter + ",\"dryRun\":false,\"limit\":2,\"reason\":\"fixed\"}");
        assertThat(first.member("changed")).isEqualTo("2");
        Client.Answer rest = client.post(
                "/v1/messages/actions",
                "{" + filter + ",\"dryRun\":false,\"cursor\":\"" + first.member("next") + "\"}");
        assertThat(rest.member("changed")).isEqualTo("1");
        assertThat(rest.json()).containsEntry("next", null);
        assertThat(fixture.admin().failures(Filter.dead(), 10).groups()).isEmpty();
    }

    @Test
    void discardingByFilterNeedsTheRoleAdmin() throws Exception {
        serve(fixture.api());
        String discard = "{\"action\":\"discard\",\"filter\":{},\"dryRun\":false}";
        Client operator = running.get(0).client(Fixture.OPERATOR);
        assertThat(operator.post("/v1/messages/actions", discard).outcome()).isEqualTo("403 forbidden");
        Client admin = running.get(0).client(Fixture.ADMIN);
        assertThat(admin.post("/v1/messages/actions", discard).status()).isEqualTo(200);
    }

    @Test
    void blockedKeysAreListedRetriedAndBuried() throws Exception {
        Client client = serve(fixture.api());
        Client.Answer first = client.get("/v1/blocked-keys?topic=accounts&limit=2");
        assertThat(first.items("items")).hasSize(2);
        assertThat(client.get("/v1/blocked-keys?topic=accounts&after=" + first.member("next"))
                        .items("items"))
                .hasSize(1);

        BlockedKey acme = fixture.blockedKey(Fixture.ACME);
        String key = "\"topic\":\"accounts\",\"tenant\":\"acme\",\"key\":\"account-acme\"";
        assertThat(client.post("/v1/blocked-keys/bury", "{" + key + ",\"head\":\"" + MessageId.next() + "\"}")
                        .outcome())
                .isEqualTo("404 not-found");
        assertThat(client.post("/v1/blocked-keys/retry", "{" + key + ",\"reason\":\"again\"}")
                        .status())
                .isEqualTo(200);
        assertThat(client.post("/v1/blocked-keys/bury", "{" + key + ",\"head\":\"" + acme.head() + "\"}")
                        .status())
                .isEqualTo(200);
        assertThat(fixture.admin().find(acme.head()).orElseThrow().state()).isEqualTo(State.DEAD);
    }

    @Test
    void failuresAreGrouped() throws Exception {
        Client client = serve(fixture.api());
        Client.Answer failures = client.get("/v1/failures?state=dead");
        assertThat(failures.items("groups")).singleElement().satisfies(group -> {
            assertThat(group).containsEntry("count", 3L).containsEntry("topic", "orders");
        });
        assertThat(failures.json()).containsEntry("complete", true);
    }

    @Test
    void commandsAreListedAndResolved() throws Exception {
        Client client = serve(fixture.api());
        assertThat(client.get("/v1/commands").items("items")).hasSize(3);
        assertThat(client.get("/v1/commands?state=stuck").items("items")).isEmpty();
        String path = "/v1/commands/" + fixture.command(Fixture.ACME);
        assertThat(client.get(path).json()).containsEntry("state", "uncertain").containsEntry("tenant", "acme");

        String resolution = "{\"resolution\":\"failed\",\"reason\":\"the bank says no\"}";
        assertThat(client.post(path + "/resolve", resolution).status()).isEqualTo(200);
        assertThat(client.post(path + "/resolve", resolution).outcome()).isEqualTo("409 not-open");
        assertThat(client.get("/v1/audit").items("items").get(0))
                .containsEntry("action", "command-failed")
                .containsEntry("reason", "the bank says no");
    }

    @Test
    void nodesAndInboxesAreListedAndAnUnknownHandlerIsNotRetired() throws Exception {
        Client client = serve(fixture.api());
        fixture.postrider
                .inbox("billing")
                .process(Message.received("shop", "1").type("t").text("x").build(), work -> {});
        assertThat(client.get("/v1/nodes").body()).isEqualTo("{\"items\":[],\"next\":null}");
        assertThat(client.get("/v1/inboxes").items("items")).singleElement().satisfies(inbox -> {
            assertThat(inbox).containsEntry("consumer", "billing").containsEntry("marks", 1L);
        });
        assertThat(client.post("/v1/inboxes/retire", "{\"consumer\":\"billing\",\"handler\":\"x\"}")
                        .outcome())
                .isEqualTo("404 unknown-topic");
    }

    @Test
    void readOnlyServerHasNoRouteThatChangesAnything() throws Exception {
        Client client = serve(fixture.api().readOnly());
        assertThat(client.get("/v1/openapi.json").body()).doesNotContain("\"post\":");
        assertThat(client.get("/v1/me").body()).contains("\"readOnly\":true");
        assertThat(client.post("/v1/topics/pause", "{\"topic\":\"orders\"}").outcome())
                .isEqualTo("404 no-route");
        assertThat(client.post("/v1/messages/" + fixture.dead(Fixture.ACME) + "/discard", "{}")
                        .outcome())
                .isEqualTo("404 no-route");
    }

    @Test
    void processWithoutSamplesSaysSo() throws Exception {
        Client client = serve(fixture.api());
        for (String path : List.of("/v1/sample", "/v1/health", "/v1/events")) {
            assertThat(client.get(path, "Accept", "*/*").outcome()).isEqualTo("404 not-published");
        }
    }
}
