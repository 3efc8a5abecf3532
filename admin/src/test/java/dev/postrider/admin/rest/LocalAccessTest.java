package dev.postrider.admin.rest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** An API without an authenticator is for programs of this machine only. */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class LocalAccessTest {

    /** Shared, because no request changes it. */
    private static final Fixture FIXTURE = Fixture.onH2();

    private final AdminApi api = AdminApi.on(FIXTURE.admin()).build();
    private final Server.Running running;

    LocalAccessTest(Server server) throws Exception {
        running = server.start(api);
    }

    @AfterEach
    void close() {
        running.close();
    }

    private List<Integer> statuses(String host) throws Exception {
        return RawSocket.send(running.port(), "GET /ops/admin/v1/me HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n")
                .statuses();
    }

    @Test
    void operatorIsNamedLocalAndMayDoEverything() throws Exception {
        assertThat(running.client("").get("/v1/me").json())
                .containsEntry("operator", "local")
                .containsEntry("role", "admin");
        for (String host : List.of("localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:9", "[::1]", "[::1]:80")) {
            assertThat(statuses("Host: " + host + "\r\n")).as(host).containsExactly(200);
        }
    }

    @Test
    void nameThatWasMadeToResolveToThisMachineIsRefused() throws Exception {
        for (String host : List.of(
                "evil.example",
                "evil.example:8080",
                "localhost.evil.example",
                "127.0.0.1.nip.io",
                "127.0.0.1.evil.example",
                "2130706433",
                "0.0.0.0",
                "10.0.0.1",
                "localhost:8080:9",
                "localhost.")) {
            assertThat(statuses("Host: " + host + "\r\n"))
                    .as(host)
                    .singleElement()
                    .isIn(400, 403);
        }
        assertThat(statuses("")).singleElement().isIn(400, 403);
        assertThat(statuses("Host: evil.example\r\nX-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: localhost\r\n"))
                .containsExactly(403);
    }

    @Test
    void addressOfAnotherInterfaceIsRefusedWhateverTheHostSays() throws Exception {
        AdminRequest request = new AdminRequest(
                "GET",
                "/v1/me",
                null,
                Map.of("Host", List.of("localhost")),
                InputStream.nullInputStream(),
                new AdminRequest.Sender(null, false));
        AdminResponse response = api.handle(request);
        assertThat(response.status()).isEqualTo(403);
        assertThat(response.body()).contains("\"code\":\"host\"", "authenticator", "admin.operator.");
    }
}
