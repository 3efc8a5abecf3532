package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every route with every role, with an unknown token and with none. */
final class RoleMatrixTest {

    private static final Map<Role, String> TOKENS =
            Map.of(Role.VIEWER, Fixture.VIEWER, Role.OPERATOR, Fixture.OPERATOR, Role.ADMIN, Fixture.ADMIN);

    /** A route as the document has it. */
    record Listed(String method, String path, Role least, boolean isForTenants) {

        /** The path with values that exist nowhere. */
        String concrete() {
            return path.replace("{id}", UUID.randomUUID().toString())
                    .replace("{reference}", UUID.randomUUID().toString())
                    .replace("{action}", "replay");
        }

        Client.Answer ask(Client client) throws Exception {
            if (!method.equals("get")) {
                return client.post(concrete(), "{}");
            }
            // the head of a stream ends
            return path.equals(RouteTable.EVENTS) ? client.send("HEAD", concrete(), "") : client.get(concrete());
        }
    }

    static List<Listed> routes(String document) {
        List<Listed> routes = new ArrayList<>();
        Map<String, Object> paths = Client.object(Json.readDocument(document), "paths");
        paths.keySet()
                .forEach(path -> Client.object(paths, path).forEach((method, operation) -> {
                    Map<String, Object> members = Client.object(Client.object(paths, path), method);
                    Role least = Words.find(Role.class, String.valueOf(members.get(OpenApi.ROLE)));
                    routes.add(new Listed(
                            method,
                            path,
                            least == null ? Role.ADMIN : least,
                            Boolean.TRUE.equals(members.get(OpenApi.TENANTS))));
                }));
        return routes;
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void routeIsOpenToItsRoleAndHigherOnesOnly(Server server) throws Exception {
        try (Fixture fixture = Fixture.onH2();
                Server.Running running = server.start(fixture.api().build())) {
            List<Listed> routes =
                    routes(running.client(Fixture.ADMIN).get("/v1/openapi.json").body());
            assertThat(routes).hasSizeGreaterThan(24);
            for (Listed route : routes) {
                for (String stranger : List.of("", "unknown-0123456789abcdef", Fixture.ADMIN + "x")) {
                    Client.Answer answer = route.ask(running.client(stranger));
                    assertThat(answer.status()).as("%s as a stranger", route).isEqualTo(401);
                    assertThat(answer.header("WWW-Authenticate")).startsWith("Bearer");
                }
                for (Role role : Role.values()) {
                    int status = route.ask(running.client(TOKENS.getOrDefault(role, "")))
                            .status();
                    boolean isAllowed = role.includes(route.least());
                    assertThat(status == 403)
                            .as("%s as %s: %s", route, role, status)
                            .isEqualTo(!isAllowed);
                    assertThat(status).as("%s as %s", route, role).isNotIn(401, 405, 500);
                }
            }
        }
    }

    @Test
    void strangerLearnsNothingAboutPaths() throws Exception {
        try (Fixture fixture = Fixture.onH2();
                Server.Running running = Server.JDK.start(fixture.api().build())) {
            Client stranger = running.client("");
            assertThat(stranger.get("/v1/nothing").body())
                    .isEqualTo(stranger.get("/v1/topics").body());
            assertThat(stranger.send("DELETE", "/v1/topics", "").outcome()).isEqualTo("401 unauthenticated");
        }
    }
}
