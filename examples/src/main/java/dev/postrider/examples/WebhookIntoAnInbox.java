package dev.postrider.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.PostriderException;
import dev.postrider.message.Message;
import dev.postrider.transport.http.Webhook;
import dev.postrider.transport.http.WebhookVerifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A message goes from the outbox of one service, over a webhook, into the inbox of another service. It takes effect once, even if it is
 * sent twice.
 */
public final class WebhookIntoAnInbox {

    private static final String SECRET = "whsec_" + "cG9zdHJpZGVyLWV4YW1wbGUtc2VjcmV0LTAwMQ==";

    private WebhookIntoAnInbox() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws IOException, SQLException {
        Postrider billing = Postrider.on(Shop.open().dataSource()) // another service, with its own database
                .inbox(
                        "billing",
                        inbox -> inbox.handler(
                                "create-invoice",
                                "order.placed",
                                (placed, work) -> say.accept("invoice for " + placed.key() + ": "
                                        + placed.payload().asText())))
                .build();
        billing.migrate();
        WebhookVerifier verifier = WebhookVerifier.with(SECRET);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/hooks", exchange -> {
            int status = receive(exchange.getRequestHeaders(), body(exchange), verifier, billing);
            say.accept("answered " + status);
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();

        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/hooks");
        Webhook webhook = Webhook.toInternal(uri).signedWith(SECRET);
        Postrider orders = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(webhook))
                .build();
        orders.migrate();
        Message placed = Message.to("orders")
                .type("order.placed")
                .key("Zoë + Søn")
                .json(new Order(42).toJson())
                .build();
        for (int times = 0; times < 2; times++) { // twice, as after a lost answer
            orders.inTransaction(work -> work.stage(placed));
            orders.deliverDue();
        }

        billing.deliverDue(); // in this thread; a service calls start() once instead
        server.stop(0);
    }

    /** Returns the status of the response: 2xx only after the commit, so that a message that is not stored is sent again. */
    private static int receive(Headers headers, byte[] body, WebhookVerifier verifier, Postrider billing) {
        if (!verifier.verify(headers::getFirst, body).isValid()) {
            return 401; // the sender retries: a secret may be changing
        }
        try {
            billing.inbox("billing").receive(List.of(message(headers, body)));
            return 204; // also for a duplicate: it was stored before
        } catch (InvalidMessageException | IllegalArgumentException | DateTimeException e) {
            return 400; // no retry: the request is not a valid message
        } catch (PostriderException e) {
            return 503; // the sender retries: the database is unavailable
        }
    }

    /**
     * Reads a CloudEvent in binary mode. The id comes from the signed header. The topic names the origin of the message, and is not
     * declared in this service.
     */
    private static Message message(Headers headers, byte[] body) {
        return Message.received("shop/orders", required(headers.getFirst("webhook-id")))
                .type(required(decoded(headers, "ce-type")))
                .tenant(decoded(headers, "ce-tenant"))
                .key(decoded(headers, "ce-partitionkey"))
                .source(decoded(headers, "ce-source"))
                .subject(decoded(headers, "ce-subject"))
                .correlationId(decoded(headers, "ce-correlationid"))
                .causationId(decoded(headers, "ce-causationid"))
                .occurredAt(Instant.parse(required(decoded(headers, "ce-time"))))
                .bytes(body, required(headers.getFirst("Content-Type")))
                .build();
    }

    /** Percent-decodes a header once. A plus sign stays a plus sign, unlike in a form. */
    private static @Nullable String decoded(Headers headers, String name) {
        String value = headers.getFirst(name);
        return value == null ? null : URLDecoder.decode(value.replace("+", "%2B"), UTF_8);
    }

    private static String required(@Nullable String value) {
        if (value == null) {
            throw new IllegalArgumentException("a header is missing");
        }
        return value;
    }

    private static byte[] body(HttpExchange exchange) throws IOException {
        return exchange.getRequestBody().readAllBytes();
    }
}
