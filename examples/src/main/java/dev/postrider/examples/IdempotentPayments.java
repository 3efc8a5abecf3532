package dev.postrider.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.BasicAuthenticator;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedRequest;
import dev.postrider.idempotency.http.KeyedResponse;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.SQLException;
import java.util.Base64;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A payment over HTTP that a client can send again. The idempotency key identifies the payment, so it takes effect once. */
public final class IdempotentPayments {

    private static final Pattern ORDER = Pattern.compile("\\{\"order\": ([0-9]{1,9})}");

    private IdempotentPayments() {}

    public static void main(String[] args) throws Exception {
        run(Shop.open(), System.out::println);
    }

    static void run(Shop shop, Consumer<String> say) throws Exception {
        Postrider postrider = Postrider.on(shop.dataSource()).topic("orders").build();
        postrider.migrate();

        HttpHandler payments = IdempotencyKey.required("payments.charge")
                .checkedBy(IdempotentPayments::check)
                .around(postrider.commands(), (call, transaction) -> charge(shop, call, transaction));

        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/payments", payments).setAuthenticator(new Customers());
        server.start();
        URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/payments");
        HttpClient client = HttpClient.newHttpClient();

        say.accept(post(client, uri, "ada", "\"key-1\"", "{\"order\": 42}"));
        say.accept(post(client, uri, "ada", "\"key-1\"", "{\"order\": 42}"));
        say.accept(post(client, uri, "ada", "\"key-1\"", "{\"order\": 43}"));
        say.accept(post(client, uri, "bob", "\"key-1\"", "{\"order\": 44}"));
        say.accept(post(client, uri, "ada", "\"key-2\"", "nonsense"));
        say.accept(post(client, uri, "ada", null, "{\"order\": 45}"));
        say.accept("orders paid: " + shop.countOrders());
        server.stop(0);
        postrider.close();
    }

    /** Runs before the key is claimed: an invalid request needs no record. */
    private static Optional<KeyedResponse> check(KeyedRequest call) {
        return ORDER.matcher(text(call)).matches()
                ? Optional.empty()
                : Optional.of(KeyedResponse.text(400, "not a payment"));
    }

    /** Writes the payment, its message, and the response for every retry in one transaction. */
    private static KeyedResponse charge(Shop shop, KeyedRequest call, CommandTransaction transaction)
            throws SQLException {
        Order order = new Order(Integer.parseInt(text(call).replaceAll("[^0-9]", "")));
        shop.insert(transaction.connection(), order);
        transaction.stage(order.placed());
        return KeyedResponse.json(201, "{\"paid\": " + order.id() + "}").header("Location", "/payments/" + order.id());
    }

    private static String text(KeyedRequest call) {
        return new String(call.body(), UTF_8);
    }

    private static String post(HttpClient client, URI uri, String user, @Nullable String key, String body)
            throws Exception {
        String login = Base64.getEncoder().encodeToString((user + ":secret").getBytes(UTF_8));
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .header("Authorization", "Basic " + login)
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (key != null) {
            request.header("Idempotency-Key", key);
        }
        HttpResponse<String> response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        boolean replayed = response.headers().firstValue("Idempotency-Replayed").isPresent();
        boolean problem = response.headers()
                .firstValue("Content-Type")
                .filter("application/problem+json"::equals)
                .isPresent();
        String said = problem ? response.body().replaceAll(".*\"code\":\"([a-z-]+)\".*", "$1") : response.body();
        return user + ": " + response.statusCode() + " " + said + (replayed ? ", replayed" : "");
    }

    /** Accepts every user with the right password. */
    private static final class Customers extends BasicAuthenticator {

        Customers() {
            super("shop");
        }

        @Override
        public boolean checkCredentials(String user, String password) {
            return password.equals("secret");
        }
    }
}
