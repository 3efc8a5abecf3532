package dev.postrider.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The verbs over the admin API: what they ask a server for, and what they make of its answers. */
final class AdminApiVerbsTest {

    private static final String ID = "0197f3a1-0000-7000-8000-000000000001";

    private static final String MESSAGE = """
            "seq":"17","id":"%s","topic":"orders","type":"order.placed","tenant":null,"key":"k-1","idempotencyKey":null,
            "state":"dead","attempts":3,"crashes":0,"payloadBytes":7,"createdAt":"2026-11-19T23:00:00Z","dueAt":"2026-11-19T23:00:00Z",
            "deliveredAt":null,"worker":null,"lastError":"no route","reason":"REJECTED","fingerprint":"f1"
            """.formatted(ID);

    private static final String DETAIL = """
            {"message":{%s,"receivedId":null,"correlationId":null,"causationId":null,"traceparent":null,"tracestate":null,
            "occurredAt":"2026-11-19T23:00:00Z","source":null,"subject":null,"deliverAt":null,"expiresAt":null,"contentType":"application/json",
            "payloadHidden":%%b,"headers":%%s,"payload":%%s,"payloadBase64":null},
            "waits":[{"cause":"operator","until":null,"behind":null}]}
            """.formatted(MESSAGE);

    /** The answers by method and path. */
    private final Map<String, String> answers = new LinkedHashMap<>();

    private final List<String> requests = new ArrayList<>();
    private final HttpServer server;

    @TempDir
    private Path directory = Path.of("");

    AdminApiVerbsTest() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @BeforeEach
    void start() {
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String request = exchange.getRequestMethod() + " " + exchange.getRequestURI();
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            boolean isWrite = exchange.getRequestMethod().equals("POST");
            String header = exchange.getRequestHeaders().getFirst("Postrider-Admin");
            requests.add(
                    request + " " + body + " " + exchange.getRequestHeaders().getFirst("Authorization"));
            assertThat(header).isEqualTo(isWrite ? "1" : null);
            String answer = answers.entrySet().stream()
                    .filter(entry -> request.startsWith(entry.getKey()))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("404 {\"code\":\"no-route\",\"detail\":\"There is no such route\"}");
            byte[] bytes = answer.substring(4).getBytes(UTF_8);
            exchange.sendResponseHeaders(Integer.parseInt(answer.substring(0, 3)), bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private Cli run(String... arguments) throws IOException {
        Path token = Files.writeString(directory.resolve("token"), "t0k3n\n");
        String[] all = new String[arguments.length + 4];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = "--api";
        all[arguments.length + 1] = "http://localhost:" + server.getAddress().getPort() + "/admin/";
        all[arguments.length + 2] = "--token-file";
        all[arguments.length + 3] = token.toString();
        return Cli.run(all);
    }

    @Test
    void listAsksWithTheFilterAndTheTokenAndFollowsTheCursor() throws IOException {
        answers.put(
                "GET /admin/v1/messages?",
                "200 {\"items\":[{" + MESSAGE + ",\"changedAt\":null}],\"next\":null,\"cut\":false}");

        Cli list = run(
                "list",
                "--state",
                "dead,parked",
                "--topic",
                "a/b",
                "--key",
                "ü &",
                "--min-attempts",
                "2",
                "--due-from",
                "2026-11-19");

        assertThat(list.exitCode()).as(list.err()).isZero();
        assertThat(list.out()).contains(ID, "dead", "orders", "no route");
        assertThat(requests)
                .containsExactly(
                        "GET /admin/v1/messages?state=dead&state=parked&topic=a%2Fb&key=%C3%BC+%26&minAttempts=2"
                                + "&dueFrom=2026-11-19T00%3A00%3A00Z&order=oldest&limit=50  Bearer t0k3n");
    }

    @Test
    void messageIsShownWithItsPayloadIfTheServerShowsIt() throws IOException {
        answers.put(
                "GET /admin/v1/messages/" + ID, "200 " + DETAIL.formatted(false, "{\"h\":\"v\"}", "\"{\\\"n\\\":1}\""));

        Cli show = run("show", ID, "--payload");

        assertThat(show.out()).contains("no route", "header h: v", "waits for an operator", "{\"n\":1}");
    }

    @Test
    void hiddenPayloadIsARefusal() throws IOException {
        answers.put("GET /admin/v1/messages/" + ID, "200 " + DETAIL.formatted(true, null, null));

        assertThat(run("show", ID).exitCode()).isZero();
        assertThat(run("show", ID, "--payload").exitCode()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"200, done, 0", "404, not-found, 7", "409, wrong-state, 8", "409, busy, 8"})
    void actionOnOneMessageHasTheExitCodeOfItsResult(int status, String result, int exitCode) throws IOException {
        answers.put("POST /admin/v1/messages/" + ID + "/replay", status + " {\"result\":\"" + result + "\"}");
        answers.put("GET /admin/v1/messages/", "404 {\"code\":\"not-found\",\"detail\":\"none\"}");

        Cli replay = run("replay", ID, "--reason", "route restored");

        assertThat(replay.exitCode()).isEqualTo(exitCode);
        assertThat(replay.out()).contains(result);
        assertThat(requests.get(0)).contains("{\"reason\":\"route restored\"}");
    }

    @Test
    void actionByFilterSendsTheFilterAndContinuesByCursor() throws IOException {
        answers.put("POST /admin/v1/messages/actions", "200 {\"changed\":2,\"skipped\":0,\"next\":null,\"sample\":[]}");

        Cli replay = run("replay", "--state", "dead", "--error", "no route", "--yes");

        assertThat(replay.out()).contains("Changed 2 messages.");
        assertThat(requests)
                .containsExactly(
                        "POST /admin/v1/messages/actions {\"action\":\"replay\",\"filter\":{\"state\":[\"dead\"],"
                                + "\"error\":\"no route\"},\"dryRun\":false,\"limit\":2000} Bearer t0k3n");
    }

    @Test
    void otherListsAreRead() throws IOException {
        answers.put("GET /admin/v1/topics/lanes?topic=orders", """
                200 {"items":[{"lane":1,"owner":"node-1","until":"2026-11-19T23:00:00Z","expired":false}],"next":null}""");
        answers.put("GET /admin/v1/topics", """
                200 {"items":[{"topic":"orders","paused":false,"nodes":1,"waiting":5,"scheduled":0,"retrying":0,"processing":0,
                "blocked":0,"parked":0,"dead":0,"oldestMillis":1500,"backlog":5,"stranded":false}],"next":null}""");
        answers.put("GET /admin/v1/nodes", """
                200 {"items":[{"worker":"node-1","version":"0.1.0","topics":["orders"],"startedAt":"2026-11-19T23:00:00Z",
                "until":"2026-11-19T23:00:00Z","alive":true}],"next":null}""");
        answers.put("GET /admin/v1/failures?limit=20", """
                200 {"groups":[{"fingerprint":"f1","topic":"orders","type":"order.placed","count":3,"first":"2026-11-19T23:00:00Z",
                "last":"2026-11-19T23:00:00Z","sample":"%s","error":"no route"}],"complete":true}""".formatted(ID));
        answers.put("GET /admin/v1/blocked-keys?", """
                200 {"items":[{"headSeq":"1","topic":"orders","tenant":null,"key":"k-1","head":"%s","attempts":1,"nextAttempt":null,
                "reason":"REJECTED","lastError":"no","since":"2026-11-19T23:00:00Z","behind":4,"parked":true}],"next":null}""".formatted(ID));
        answers.put("GET /admin/v1/audit?limit=50", """
                200 {"items":[{"id":"9","at":"2026-11-19T23:00:00Z","operator":"ann","action":"replay","topic":"orders","message":"%s",
                "filter":null,"reason":null,"changed":null,"skipped":null}],"next":null}""".formatted(ID));
        answers.put("GET /admin/v1/commands?", """
                200 {"items":[{"reference":"%s","operation":"pay","tenant":null,"caller":null,"keyPrefix":"k","state":"uncertain",
                "stuck":false,"effectStarted":true,"attempts":1,"reason":null,"createdAt":"2026-11-19T23:00:00Z",
                "updatedAt":"2026-11-19T23:00:00Z","leaseUntil":"2026-11-19T23:00:00Z","keyExpiresAt":"2026-11-19T23:00:00Z"}],
                "next":null,"cut":false}""".formatted(ID));

        assertThat(run("status").out()).containsPattern("orders +active +5 .*1\\.5s");
        assertThat(run("lanes", "orders").out()).contains("node-1");
        assertThat(run("nodes").out()).contains("node-1", "orders");
        assertThat(run("failures").out()).contains("no route", ID);
        assertThat(run("blocked-keys", "orders").out()).contains("k-1", ID);
        assertThat(run("audit").out()).contains("ann", "replay");
        assertThat(run("commands", "--state", "uncertain").out()).contains("pay", "uncertain");
    }

    @Test
    void unknownTopicAndCommandAreNotFound() throws IOException {
        answers.put("POST /admin/v1/topics/resume", "404 {\"code\":\"unknown-topic\",\"detail\":\"none\"}");
        answers.put(
                "POST /admin/v1/topics/remove", "409 {\"code\":\"in-use\",\"detail\":\"used\",\"result\":\"in-use\"}");
        answers.put(
                "POST /admin/v1/commands/" + ID + "/resolve",
                "409 {\"code\":\"not-open\",\"detail\":\"ended\",\"result\":\"not-open\"}");

        assertThat(run("resume", "orders").exitCode()).isEqualTo(7);
        assertThat(run("topics", "remove", "orders", "--yes").exitCode()).isEqualTo(8);
        assertThat(run("commands", "resolve", ID, "--as", "failed", "--yes").exitCode())
                .isEqualTo(8);
    }

    @ParameterizedTest
    @CsvSource({
        "400 {\"code\":\"bad-input\";\"detail\":\"wrong\"}, 2, wrong",
        "401 {\"code\":\"unauthenticated\";\"detail\":\"who?\"}, 3, --token-env",
        "403 {\"code\":\"forbidden\";\"detail\":\"needs operator\"}, 1, needs operator",
        "503 {\"code\":\"store-unavailable\";\"detail\":\"down\"}, 3, down",
        "500 {\"code\":\"failed\";\"detail\":\"a bug\"}, 1, a bug",
        "404 {\"code\":\"no-route\";\"detail\":\"no route\"}, 1, 404",
        "200 <html>, 1, There is no admin API",
        "200 {\"items\":[{}]}, 1, another form"
    })
    void problemOfTheServerIsOneLineWithAnExitCode(String answer, int exitCode, String named) throws IOException {
        answers.put("GET /", answer.replace(';', ','));

        Cli nodes = run("nodes");

        assertThat(nodes.exitCode()).isEqualTo(exitCode);
        assertThat(nodes.err().strip().lines())
                .singleElement()
                .asString()
                .contains(named)
                .doesNotContain("t0k3n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            doctor --api http://localhost:1           | --db
            purge --dead-retention 1d --yes --api http://localhost:1 | --db
            schema status --api http://localhost:1    | --db
            list --api http://localhost:1 --db x      | keep one
            list --db jdbc:postgresql:x --token-env HOME | --api
            list --api ftp://host                     | --api
            list --api http://user:hunter2@host       | --api
            list --api http://192.0.2.1 --token-env PATH | https
            list --api http://localhost:1 --token-env NOT_SET_HERE | NOT_SET_HERE
            """)
    void wrongAddressOrTokenExitsWithTwo(String arguments, String named) {
        Cli result = Cli.run(arguments.split(" "));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains(named).doesNotContain("hunter2");
    }

    @Test
    void apiThatIsNotThereExitsWithThree() {
        assertThat(Cli.run("nodes", "--api", "http://localhost:1").exitCode()).isEqualTo(3);
    }
}
