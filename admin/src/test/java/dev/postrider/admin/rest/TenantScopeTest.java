package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.Action;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredCommand;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** An operator of one tenant on every route: other tenants are as if they did not exist. */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class TenantScopeTest {

    private final Fixture fixture = Fixture.onH2().filled();
    private final Server.Running running;
    private final Client client;
    private int changes;

    TenantScopeTest(Server server) throws Exception {
        running = server.start(fixture.api().payloadsFor(Role.VIEWER).build());
        client = running.client(Fixture.OF_ACME);
    }

    @BeforeEach
    void count() {
        changes = changes();
    }

    @AfterEach
    void close() {
        running.close();
        fixture.close();
    }

    private int changes() {
        return fixture.admin().audit(Long.MAX_VALUE, 1000).size();
    }

    private void assertNothingChanged() {
        assertThat(changes()).isEqualTo(changes);
    }

    private static List<Object> tenants(Client.Answer answer) {
        return answer.items("items").stream()
                .map(item -> item.get("tenant"))
                .distinct()
                .toList();
    }

    @Test
    void routesThatConcernAllTenantsAreRefused() throws Exception {
        List<RoleMatrixTest.Listed> routes =
                RoleMatrixTest.routes(client.get("/v1/openapi.json").body());
        for (RoleMatrixTest.Listed route : routes) {
            assertThat(route.ask(client).status() == 403).as(route.toString()).isEqualTo(!route.isForTenants());
        }
        assertThat(routes.stream().filter(route -> !route.isForTenants()).map(RoleMatrixTest.Listed::path))
                .contains("/v1/topics", "/v1/audit", "/v1/events", "/v1/nodes", "/v1/inboxes/retire");
        assertNothingChanged();
    }

    @Test
    void listsHaveTheMessagesOfTheTenantOnly() throws Exception {
        assertThat(tenants(client.get("/v1/messages"))).containsExactly("acme");
        assertThat(client.get("/v1/messages").items("items")).hasSize(4);
        assertThat(client.get("/v1/messages?tenant=acme").items("items")).hasSize(4);
        assertThat(client.get("/v1/messages?tenant=globex").outcome()).isEqualTo("403 tenant-only");
        assertThat(client.get("/v1/messages?id=" + fixture.dead(Fixture.GLOBEX)).items("items"))
                .isEmpty();
        assertThat(client.get("/v1/failures").items("groups"))
                .extracting(group -> group.get("count"))
                .containsOnly(1L);
        assertThat(client.get("/v1/failures?tenant=globex").outcome()).isEqualTo("403 tenant-only");
    }

    @Test
    void messageOfAnotherTenantIsAnsweredLikeOneThatIsNowhere() throws Exception {
        String nowhere = client.get("/v1/messages/" + MessageId.next()).body();
        for (String other : List.of(Fixture.GLOBEX, "null")) {
            MessageId id = fixture.dead(other);
            assertThat(client.get("/v1/messages/" + id).body()).isEqualTo(nowhere);
            for (Action action : Action.values()) {
                String path = "/" + Words.of(action);
                Client.Answer answer = client.post("/v1/messages/" + id + path, "{}");
                assertThat(answer.status()).isEqualTo(404);
                assertThat(answer.body())
                        .isEqualTo(client.post("/v1/messages/" + MessageId.next() + path, "{}")
                                .body());
            }
            assertThat(fixture.admin().find(id).orElseThrow().state()).isEqualTo(State.DEAD);
        }
        assertNothingChanged();
        assertThat(client.get("/v1/messages/" + fixture.dead(Fixture.ACME)).body())
                .contains("payload of acme");
        assertThat(client.post("/v1/messages/" + fixture.dead(Fixture.ACME) + "/replay", "{}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void actionsByFilterChangeTheTenantOnly() throws Exception {
        String everything = "{\"action\":\"discard\",\"filter\":{},\"dryRun\":%s}";
        assertThat(client.post("/v1/messages/actions", everything.formatted("true"))
                        .member("changed"))
                .isEqualTo("2");
        String globex = "{\"action\":\"discard\",\"filter\":{%s},\"dryRun\":false}";
        assertThat(client.post("/v1/messages/actions", globex.formatted("\"tenant\":\"globex\""))
                        .outcome())
                .isEqualTo("403 tenant-only");
        assertThat(client.post(
                                "/v1/messages/actions",
                                globex.formatted("\"id\":\"" + fixture.dead(Fixture.GLOBEX) + "\""))
                        .member("changed"))
                .isEqualTo("0");
        assertNothingChanged();

        assertThat(client.post("/v1/messages/actions", everything.formatted("false"))
                        .member("changed"))
                .isEqualTo("2");
        assertThat(fixture.admin().failures(Filter.dead(), 10).groups().get(0).count())
                .isEqualTo(2);
        assertThat(fixture.admin().find(fixture.dead(Fixture.GLOBEX))).isPresent();
    }

    @Test
    void blockedKeysOfOtherTenantsAreNeitherShownNorChanged() throws Exception {
        assertThat(tenants(client.get("/v1/blocked-keys?topic=accounts"))).containsExactly("acme");
        BlockedKey globex = fixture.blockedKey(Fixture.GLOBEX);
        String head = ",\"head\":\"" + globex.head() + "\"";
        for (String tenant : List.of("", "\"tenant\":\"acme\",")) {
            String key = "{\"topic\":\"accounts\"," + tenant + "\"key\":\"" + globex.key() + "\"";
            assertThat(client.post("/v1/blocked-keys/retry", key + "}").outcome())
                    .isEqualTo("404 not-found");
            assertThat(client.post("/v1/blocked-keys/bury", key + head + "}").outcome())
                    .isEqualTo("404 not-found");
        }
        String named = "{\"topic\":\"accounts\",\"tenant\":\"globex\",\"key\":\"" + globex.key() + "\"";
        assertThat(client.post("/v1/blocked-keys/retry", named + "}").outcome()).isEqualTo("403 tenant-only");
        assertThat(client.post("/v1/blocked-keys/bury", named + head + "}").outcome())
                .isEqualTo("403 tenant-only");
        assertNothingChanged();
        assertThat(fixture.blockedKey(Fixture.GLOBEX)).isEqualTo(globex);

        assertThat(client.post("/v1/blocked-keys/retry", "{\"topic\":\"accounts\",\"key\":\"account-acme\"}")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void commandsOfOtherTenantsAreNeitherShownNorResolved() throws Exception {
        assertThat(tenants(client.get("/v1/commands"))).containsExactly("acme");
        String nowhere = client.get("/v1/commands/" + UUID.randomUUID()).body();
        UUID globex = fixture.command(Fixture.GLOBEX);
        assertThat(client.get("/v1/commands/" + globex).body()).isEqualTo(nowhere);
        assertThat(client.post("/v1/commands/" + globex + "/resolve", "{\"resolution\":\"released\"}")
                        .body())
                .isEqualTo(nowhere);
        assertNothingChanged();
        assertThat(fixture.admin().commands().find(globex).map(StoredCommand::state))
                .hasValue(StoredCommand.State.UNCERTAIN);
    }

    @Test
    void operatorIsToldItsTenant() throws Exception {
        Map<String, Object> me = client.get("/v1/me").json();
        assertThat(me).containsEntry("tenant", "acme").containsEntry("role", "admin");
    }
}
