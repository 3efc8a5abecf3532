package dev.postrider.server.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.transport.http.WebhookVerifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The webhook receiver: accepts orders, checks their signatures, fails every twentieth request and responds slowly to
 * every fiftieth. It fails every mail and refuses the stock of one item until it is repaired. Thread-safe.
 */
final class Receiver implements AutoCloseable {

    private static final int FAILS_EACH = 20;
    private static final int SLOW_EACH = 50;
    private static final int SLOW_FROM = 25;
    private static final Duration SLOWEST = Duration.ofMillis(1500);
    private static final int THREADS = 64;
    private static final Pattern ORDER = Pattern.compile("\"order\":\"([0-9a-f-]{36})\"");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final WebhookVerifier verifier;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong forged = new AtomicLong();
    private final AtomicLong slow = new AtomicLong();
    private final Map<UUID, Integer> received = new ConcurrentHashMap<>();
    private volatile boolean repaired;

    private Receiver(HttpServer server, WebhookVerifier verifier) {
        this.server = server;
        this.verifier = verifier;
    }

    static Receiver start(String secret) {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            Receiver receiver = new Receiver(server, WebhookVerifier.with(secret));
            server.createContext("/" + Shop.TOPIC, exchange -> receiver.answer(exchange, receiver::order));
            server.createContext(
                    "/" + Shop.MAIL, exchange -> receiver.answer(exchange, body -> receiver.repaired ? 204 : 503));
            server.createContext("/" + Shop.STOCK, exchange -> receiver.answer(exchange, receiver::stock));
            server.createContext("/repair", receiver::repair);
            server.setExecutor(receiver.threads);
            server.start();
            return receiver;
        } catch (IOException e) {
            throw new DemoUnavailableException("The webhook receiver found no free port: " + e, e);
        }
    }

    /** The address of the webhook of a topic, and of the repair. */
    URI uri(String path) {
        InetSocketAddress address = server.getAddress();
        return URI.create("http://" + address.getAddress().getHostAddress() + ":" + address.getPort() + "/" + path);
    }

    /** Chooses the status of the response to a message with a valid signature. */
    @FunctionalInterface
    private interface Judgement {
        int status(String body);
    }

    private void answer(HttpExchange exchange, Judgement judgement) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(status(exchange, body, judgement), -1);
        }
    }

    private int status(HttpExchange exchange, byte[] body, Judgement judgement) {
        if (!verifier.verify(exchange.getRequestHeaders()::getFirst, body).isValid()) {
            forged.incrementAndGet();
            return 401;
        }
        return judgement.status(new String(body, UTF_8));
    }

    private int stock(String body) {
        return repaired || !body.contains("\"" + Shop.POISONED_ITEM + "\"") ? 204 : 422;
    }

    private void repair(HttpExchange exchange) throws IOException {
        try (exchange) {
            boolean asked = exchange.getRequestMethod().equals("POST");
            repaired = repaired || asked;
            exchange.sendResponseHeaders(asked ? 204 : 405, -1);
        }
    }

    private int order(String body) {
        long number = requests.incrementAndGet();
        if (number % SLOW_EACH == SLOW_FROM) {
            slow.incrementAndGet();
            dawdle();
        } else if (number % FAILS_EACH == 0) {
            refused.incrementAndGet();
            return 503;
        }
        Matcher order = ORDER.matcher(body);
        if (!order.find()) {
            return 400;
        }
        received.merge(UUID.fromString(order.group(1)), 1, Integer::sum);
        return 204;
    }

    private static void dawdle() {
        try {
            Thread.sleep(ThreadLocalRandom.current().nextLong(SLOWEST.toMillis() / 3, SLOWEST.toMillis()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The number of times that each order arrived and was accepted. */
    Map<UUID, Integer> received() {
        return Map.copyOf(received);
    }

    int distinct() {
        return received.size();
    }

    long requests() {
        return requests.get();
    }

    long refused() {
        return refused.get();
    }

    long forged() {
        return forged.get();
    }

    long slow() {
        return slow.get();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
