package dev.postrider.contracts;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Authenticator;
import com.sun.net.httpserver.HttpContext;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpPrincipal;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A server of the JDK with a security that believes what it is told. */
final class JdkServer implements AutoCloseable {

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(16);
    private final AtomicInteger paths = new AtomicInteger();

    JdkServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        server.setExecutor(threads);
        server.start();
    }

    URI serve(HttpHandler handler) {
        String path = "/payments-" + paths.incrementAndGet();
        HttpContext context = server.createContext(path, handler);
        context.setAuthenticator(new Believer());
        return URI.create("http://localhost:" + server.getAddress().getPort() + path);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private static final class Believer extends Authenticator {

        @Override
        public Result authenticate(HttpExchange exchange) {
            String user = exchange.getRequestHeaders().getFirst(IdempotencyKeyContract.USER);
            if (IdempotencyKeyContract.BANNED.equals(user)) {
                return new Failure(403);
            }
            return new Success(user == null || user.isEmpty() ? null : new HttpPrincipal(user, "test"));
        }
    }

    /** The two ways to write a handler. */
    enum Form {
        EXCHANGE {
            @Override
            HttpHandler around(IdempotencyKey key, Commands commands, IdempotencyKeyContract.Application application) {
                return key.around(commands, writing(application));
            }
        },
        ANSWER {
            @Override
            HttpHandler around(IdempotencyKey key, Commands commands, IdempotencyKeyContract.Application application) {
                return key.around(
                        commands,
                        (call, transaction) -> {
                            KeyedResponse answer = application.handle(new String(call.body(), UTF_8), transaction);
                            return answer.header(IdempotencyKeyContract.UNRECORDED) == null
                                    ? answer
                                    : answer.unrecorded();
                        },
                        writing(application));
            }
        };

        abstract HttpHandler around(
                IdempotencyKey key, Commands commands, IdempotencyKeyContract.Application application);
    }

    private static HttpHandler writing(IdempotencyKeyContract.Application application) {
        return exchange -> {
            try (exchange) {
                write(exchange, application);
            }
        };
    }

    private static void write(HttpExchange exchange, IdempotencyKeyContract.Application application)
            throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        Object transaction = exchange.getAttribute(IdempotencyKey.TRANSACTION);
        KeyedResponse answer = handle(application, body, (CommandTransaction) transaction);
        if (answer.header(IdempotencyKeyContract.UNRECORDED) != null) {
            exchange.setAttribute(IdempotencyKey.UNRECORDED, true);
        }
        exchange.getResponseHeaders().putAll(answer.headers());
        byte[] bytes = answer.body();
        exchange.sendResponseHeaders(answer.status(), bytes.length == 0 ? -1 : bytes.length);
        if (bytes.length > 0) {
            exchange.getResponseBody().write(bytes);
        }
    }

    private static KeyedResponse handle(
            IdempotencyKeyContract.Application application, String body, @Nullable CommandTransaction transaction) {
        try {
            return application.handle(body, transaction);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
