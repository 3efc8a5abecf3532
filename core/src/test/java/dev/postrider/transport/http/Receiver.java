package dev.postrider.transport.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A well-behaved HTTP server on loopback that answers as told and remembers what it got. */
final class Receiver implements AutoCloseable {

    record Received(String method, URI target, Headers headers, List<Byte> bytes, int remotePort) {

        String header(String name) {
            String value = headers.getFirst(name);
            return value == null ? "" : value;
        }

        byte[] body() {
            byte[] body = new byte[bytes.size()];
            for (int i = 0; i < body.length; i++) {
                body[i] = bytes.get(i);
            }
            return body;
        }

        String text() {
            return new String(body(), StandardCharsets.UTF_8);
        }
    }

    private final HttpServer server;
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final Headers answerHeaders = new Headers();
    private volatile int status = 204;
    private volatile String answer = "";

    Receiver() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", this::handle);
        server.start();
    }

    Receiver answers(int status, String body) {
        this.status = status;
        this.answer = body;
        return this;
    }

    Receiver withHeader(String name, String value) {
        answerHeaders.set(name, value);
        return this;
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        List<Byte> bytes = new CopyOnWriteArrayList<>();
        for (byte b : body) {
            bytes.add(b);
        }
        received.add(new Received(
                exchange.getRequestMethod(),
                exchange.getRequestURI(),
                exchange.getRequestHeaders(),
                bytes,
                exchange.getRemoteAddress().getPort()));
        exchange.getResponseHeaders().putAll(answerHeaders);
        byte[] reply = answer.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, reply.length == 0 ? -1 : reply.length);
        if (reply.length > 0) {
            exchange.getResponseBody().write(reply);
        }
        exchange.close();
    }

    int port() {
        return server.getAddress().getPort();
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + port() + "/hook?x=1");
    }

    List<Received> received() {
        return received;
    }

    Received only() {
        if (received.size() != 1) {
            throw new AssertionError(received.size() + " requests came instead of one");
        }
        return received.get(0);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
