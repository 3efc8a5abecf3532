package dev.postrider.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.internal.Json;
import dev.postrider.server.cli.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sends requests to the admin API, and turns every answer that is none into a failure of the command. Thread-safe. */
final class ApiConnection {

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);

    /** A call may change ten thousand messages. */
    private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);

    private static final int LARGEST_ANSWER = 128 * 1024 * 1024;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_LIMIT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    private final URI base;
    private final @Nullable String token;

    /**
     * @param base the address of the API, to which {@code /v1/…} is added
     * @param token null for none
     */
    ApiConnection(URI base, @Nullable String token) {
        this.base = base;
        this.token = token;
        boolean isPlain = base.getHost() != null && base.getRawUserInfo() == null && base.getRawQuery() == null;
        if (!isPlain || !String.valueOf(base.getScheme()).matches("https?")) {
            throw CommandFailure.usage(
                    "--api must be an address such as https://host:8443 or http://localhost:8081/admin");
        }
        if (token != null && base.getScheme().equals("http") && !isLoopback(base.getHost())) {
            throw CommandFailure.usage(
                    "--api sends the token, and plain HTTP shows it on the way: use https, or a tunnel to"
                            + " localhost");
        }
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** An answer with its status; a problem has its status too. */
    record Response(int status, ApiAnswer body) {

        boolean isProblem() {
            return status >= 400;
        }

        String code() {
            return String.valueOf(body.textOrNull("code"));
        }

        String detail() {
            return String.valueOf(body.textOrNull("detail"));
        }
    }

    Response get(String path, Map<String, ?> parameters) {
        String query = FilterMembers.pairs(parameters).stream()
                .map(pair -> pair.getKey() + "=" + URLEncoder.encode(pair.getValue(), UTF_8))
                .collect(Collectors.joining("&"));
        return send(HttpRequest.newBuilder(uri(path + (query.isEmpty() ? "" : "?" + query)))
                .GET());
    }

    Response post(String path, Map<String, ?> body) {
        return send(HttpRequest.newBuilder(uri(path))
                .header("Content-Type", "application/json")
                .header("Postrider-Admin", "1")
                .POST(HttpRequest.BodyPublishers.ofString(Json.writeTree(body))));
    }

    private URI uri(String path) {
        return URI.create(base.toString().replaceFirst("/+$", "") + "/v1/" + path);
    }

    private Response send(HttpRequest.Builder request) {
        request.header("Accept", "application/json, application/problem+json").timeout(ANSWER_LIMIT);
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        try {
            HttpResponse<InputStream> response = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
            return read(response);
        } catch (IOException e) {
            throw CommandFailure.unreachable(
                    "The admin API at " + base
                            + " cannot be reached; check that it runs and that host and port are right: " + e,
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.refused("Interrupted");
        }
    }

    private Response read(HttpResponse<InputStream> response) throws IOException {
        String text;
        try (InputStream body = response.body()) {
            text = new String(body.readNBytes(LARGEST_ANSWER), UTF_8);
        }
        Response read;
        try {
            read = new Response(response.statusCode(), new ApiAnswer(Json.readDocument(text)));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.refused("There is no admin API at " + base + ": it answered with status "
                    + response.statusCode() + " and no JSON object");
        }
        refuseFailures(read);
        return read;
    }

    /** Problems that no verb can make anything of. */
    private void refuseFailures(Response response) {
        switch (response.status()) {
            case 400, 413, 414, 431 -> throw CommandFailure.usage(response.detail());
            case 401 ->
                throw CommandFailure.unreachable(
                        "The admin API at " + base + " refuses the token: give --token-env or --token-file; "
                                + response.detail(),
                        null);
            case 403 -> throw CommandFailure.refused("The admin API refuses this to you: " + response.detail());
            case 503 ->
                throw CommandFailure.unreachable("The admin API has no database now: " + response.detail(), null);
            default -> {
                boolean isKnown = response.status() < 400 || response.status() == 404 || response.status() == 409;
                if (!isKnown || response.code().equals("no-route")) {
                    throw CommandFailure.refused(
                            "The admin API answered with status " + response.status() + ": " + response.detail());
                }
            }
        }
    }
}
