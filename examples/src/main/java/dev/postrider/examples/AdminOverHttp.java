package dev.postrider.examples;

import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.admin.rest.AdminApi;
import dev.postrider.admin.rest.AdminEvents;
import dev.postrider.admin.rest.AdminHttpHandler;
import dev.postrider.admin.rest.BearerTokens;
import dev.postrider.admin.rest.Operator;
import dev.postrider.admin.rest.Role;
import dev.postrider.health.HealthCheck;
import dev.postrider.health.HealthThresholds;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An operator repairs a dead letter over HTTP. */
public final class AdminOverHttp {

    private AdminOverHttp() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        AtomicBoolean inStock = new AtomicBoolean();
        DeliveryHandler warehouse = delivery -> {
            if (!inStock.get()) {
                throw new PermanentFailureException("no stock");
            }
        };
        HealthCheck health = HealthCheck.with(HealthThresholds.defaults());
        AdminEvents events = AdminEvents.of(health);
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("orders", topic -> topic.deliver(warehouse))
                .listener(health)
                .listener(events)
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> work.stage(new Order(1).placed()));
        postrider.deliverDue(); // in this thread; a service calls start() once instead

        String token = "0123456789abcdef0123456789abcdef"; // openssl rand -hex 32
        BearerTokens tokens = BearerTokens.none().with(token, Operator.of("ann", Role.OPERATOR));
        AdminApi api = AdminApi.on(postrider.admin())
                .authenticator(tokens)
                .payloadsFor(Role.OPERATOR)
                .idempotency(postrider.commands())
                .events(events)
                .build();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/admin", new AdminHttpHandler(api));
        server.start();
        try {
            String base = "http://localhost:" + server.getAddress().getPort() + "/admin/v1/";
            say.accept("without a token: "
                    + send(HttpRequest.newBuilder(URI.create(base + "topics"))).statusCode());

            String list = get(base + "messages?state=dead&topic=orders", token);
            String error = found("\"lastError\":\"[^\"]*: ([^\"]*)\"", list);
            say.accept("dead: " + found("\"type\":\"([^\"]*)\"", list) + ", " + error);
            String message = base + "messages/" + found("\"id\":\"([^\"]*)\"", list);
            say.accept("payload: "
                    + found("\"payload\":\"(.*?[^\\\\])\"", get(message, token)).replace("\\", ""));

            inStock.set(true);
            say.accept("replayed: " + post(message + "/replay", token));
            say.accept("sent again: " + post(message + "/replay", token));
            say.accept("delivered: " + postrider.deliverDue());
            say.accept("health: " + found("\"status\":\"([^\"]*)\"", get(base + "health", token)));
        } finally {
            server.stop(0);
        }
    }

    private static String get(String uri, String token) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(uri)).header("Authorization", "Bearer " + token))
                .body();
    }

    /** A retry with the same key is not done twice. */
    private static String post(String uri, String token) throws Exception {
        return send(HttpRequest.newBuilder(URI.create(uri))
                        .header("Authorization", "Bearer " + token)
                        .header("Postrider-Admin", "1")
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "incident-7")
                        .POST(HttpRequest.BodyPublishers.ofString("{\"reason\":\"in stock again\"}")))
                .body();
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static String found(String pattern, String json) {
        Matcher matcher = Pattern.compile(pattern).matcher(json);
        return matcher.find() ? matcher.group(1) : json;
    }
}
