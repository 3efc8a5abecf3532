package dev.postrider.admin.rest;

import dev.postrider.internal.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A client of the API with a token. */
final class Client {

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final int port;
    private final String token;

    /** @param token empty for none */
    Client(int port, String token) {
        this.port = port;
        this.token = token;
    }

    /** The answer of the API. */
    record Answer(HttpResponse<String> response) {

        int status() {
            return response.statusCode();
        }

        String body() {
            return response.body();
        }

        String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        Map<String, Object> json() {
            return Json.readDocument(response.body());
        }

        /** Returns a member that is an object; empty if it is none. */
        Map<String, Object> object(String name) {
            return Client.object(json(), name);
        }

        Object member(String name) {
            return String.valueOf(json().get(name));
        }

        @SuppressWarnings("unchecked") // a list of objects
        List<Map<String, Object>> items(String name) {
            return (List<Map<String, Object>>) json().getOrDefault(name, List.of());
        }

        /** Status and code of a problem, or the status alone. */
        String outcome() {
            boolean isProblem = header("Content-Type").equals("application/problem+json");
            return isProblem ? status() + " " + member("code") : "" + status();
        }
    }

    @SuppressWarnings("unchecked") // the keys of an object are texts
    static Map<String, Object> object(Map<String, Object> parent, String name) {
        return parent.get(name) instanceof Map<?, ?> child ? (Map<String, Object>) child : Map.of();
    }

    URI uri(String path) {
        return URI.create("http://localhost:" + port + Server.PREFIX + path);
    }

    Answer get(String path, String... headers) throws IOException, InterruptedException {
        return send("GET", path, "", headers);
    }

    /** Posts JSON with all headers that a write needs. */
    Answer post(String path, String json, String... more) throws IOException, InterruptedException {
        String[] headers = new String[more.length + 4];
        System.arraycopy(more, 0, headers, 4, more.length);
        headers[0] = "Content-Type";
        headers[1] = "application/json";
        headers[2] = "Postrider-Admin";
        headers[3] = "1";
        return send("POST", path, json, headers);
    }

    Answer send(String method, String path, String body, String... headers) throws IOException, InterruptedException {
        return new Answer(HTTP.send(request(method, path, body, headers), HttpResponse.BodyHandlers.ofString()));
    }

    /** Opens a stream. */
    HttpResponse<InputStream> open(String path) throws IOException, InterruptedException {
        return HTTP.send(request("GET", path, ""), HttpResponse.BodyHandlers.ofInputStream());
    }

    private HttpRequest request(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri(path))
                .timeout(Duration.ofSeconds(60))
                .method(
                        method,
                        body.isEmpty()
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString(body));
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return (headers.length == 0 ? request : request.headers(headers)).build();
    }
}
