package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Requests whose end two programs could see in different places. Behind a proxy, the rest would be taken for the request of another
 * client. Each is refused, or answered once, and nothing of its rest is answered.
 */
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class FramingTest {

    private static final String HIDDEN =
            "GET /ops/admin/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + Fixture.ADMIN + "\r\n\r\n";

    /** Shared, because no request changes it. */
    private static final Fixture FIXTURE = Fixture.onH2();

    private final Server.Running running;

    FramingTest(Server server) throws Exception {
        running = server.start(FIXTURE.api().build());
    }

    @AfterEach
    void close() {
        running.close();
    }

    private static String pause(String headers, String rest) {
        return "POST /ops/admin/v1/topics/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + Fixture.ADMIN
                + "\r\nPostrider-Admin: 1\r\nContent-Type: application/json\r\n" + headers + "\r\n" + rest;
    }

    @Test
    void requestWithTwoEndsIsRefused() throws Exception {
        String body = "{\"topic\":\"orders\"}";
        String chunked = "12\r\n" + body + "\r\n0\r\n\r\n";
        for (String request : List.of(
                pause("Content-Length: 18\r\nContent-Length: 200\r\n", body + HIDDEN),
                pause("Content-Length: 200\r\nContent-Length: 18\r\n", body + HIDDEN),
                pause("Content-Length: 18, 200\r\n", body + HIDDEN),
                pause("Content-Length: 18\r\nTransfer-Encoding: chunked\r\n", chunked + HIDDEN),
                pause("Transfer-Encoding: chunked\r\nContent-Length: 200\r\n", chunked + HIDDEN),
                pause("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked + HIDDEN),
                pause("Transfer-Encoding: xchunked\r\n", chunked + HIDDEN),
                pause("Content-Length: +18\r\n", body + HIDDEN),
                pause("Content-Length: -1\r\n", body + HIDDEN),
                pause("Content-Length: 0x12\r\n", body + HIDDEN))) {
            RawSocket.Received received = RawSocket.send(running.port(), request);
            assertThat(received.statuses())
                    .as(request + "\n----\n" + received.text())
                    .hasSizeLessThanOrEqualTo(1)
                    .allMatch(status -> status >= 400);
            assertThat(FIXTURE.admin().status()).as(request).noneMatch(topic -> topic.paused());
        }
    }

    @Test
    void getWithABodyIsRefused() throws Exception {
        String get = "GET /ops/admin/v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + Fixture.ADMIN;
        for (String rest : List.of(
                "\r\nContent-Length: " + HIDDEN.length() + "\r\n\r\n" + HIDDEN,
                "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + HIDDEN)) {
            RawSocket.Received received = RawSocket.send(running.port(), get + rest);
            assertThat(received.statuses()).as(received.text()).containsExactly(400);
        }
    }

    @Test
    void foldedHeaderIsRefusedOrIsOneHeader() throws Exception {
        RawSocket.Received received = RawSocket.send(
                running.port(),
                "GET /ops/admin/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Note: a\r\n Authorization: Bearer "
                        + Fixture.ADMIN + "\r\nConnection: close\r\n\r\n");
        assertThat(received.statuses()).as(received.text()).singleElement().isIn(400, 401);
    }

    @Test
    void twoHostsTwoTokensAndTwoTypesAreRefused() throws Exception {
        String get = "GET /ops/admin/v1/me HTTP/1.1\r\nConnection: close\r\n";
        String token = "Authorization: Bearer " + Fixture.ADMIN + "\r\n";
        String host = "Host: localhost\r\n";
        assertThat(RawSocket.send(running.port(), get + host + token + "\r\n").statuses())
                .containsExactly(200);
        assertThat(RawSocket.send(running.port(), get + host + "Host: evil.example\r\n" + token + "\r\n")
                        .statuses())
                .containsExactly(400);
        assertThat(RawSocket.send(
                                running.port(),
                                get + host + token + "Authorization: Bearer " + Fixture.VIEWER + "\r\n\r\n")
                        .statuses())
                .containsExactly(401);
        assertThat(RawSocket.send(
                                running.port(),
                                pause("Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n", "{}"))
                        .statuses())
                .containsExactly(400);
    }

    @Test
    void bodyThatEndsEarlyChangesNothing() throws Exception {
        try (Socket socket = new Socket("localhost", running.port())) {
            socket.getOutputStream()
                    .write(pause("Content-Length: 40\r\n", "{\"topic\":\"orders\"}")
                            .getBytes(US_ASCII));
            socket.shutdownOutput();
            String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
            assertThat(answer).doesNotContain("HTTP/1.1 200");
        }
        assertThat(FIXTURE.admin().status()).noneMatch(topic -> topic.paused());
    }
}
