package dev.postrider.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.transport.http.Webhook;
import dev.postrider.transport.http.WebhookVerifier;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.function.Consumer;

/** A signed webhook, and a receiver that checks the signature before it processes the request. */
public final class WebhookDelivery {

    private static final String SECRET = "whsec_" + "cG9zdHJpZGVyLWV4YW1wbGUtc2VjcmV0LTAwMQ==";

    private WebhookDelivery() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws IOException {
        WebhookVerifier verifier = WebhookVerifier.with(SECRET);
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/hooks", exchange -> receive(exchange, verifier, say));
        receiver.start();
        URI uri = URI.create("http://localhost:" + receiver.getAddress().getPort() + "/hooks");

        // to(uri) takes public addresses only; this receiver is a service of our own
        Webhook webhook = Webhook.toInternal(uri).signedWith(SECRET);
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(webhook))
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> work.stage(new Order(42).placed()));
        say.accept("attempts: " + postrider.deliverDue());
        receiver.stop(0);
    }

    private static void receive(HttpExchange exchange, WebhookVerifier verifier, Consumer<String> say)
            throws IOException {
        Headers headers = exchange.getRequestHeaders();
        byte[] body = exchange.getRequestBody().readAllBytes();
        if (verifier.verify(headers::getFirst, body).isValid()) {
            say.accept(headers.getFirst("ce-type") + ": " + new String(body, UTF_8));
            exchange.sendResponseHeaders(204, -1);
        } else {
            exchange.sendResponseHeaders(401, -1);
        }
        exchange.close();
    }
}
