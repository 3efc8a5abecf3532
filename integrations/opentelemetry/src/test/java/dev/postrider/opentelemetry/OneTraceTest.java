package dev.postrider.opentelemetry;

import static dev.postrider.opentelemetry.RecordedSpans.assertChild;
import static dev.postrider.opentelemetry.RecordedSpans.contextOf;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.idempotency.Command;
import dev.postrider.message.Message;
import dev.postrider.transport.http.Webhook;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A shop and a billing service, each with a database and an HTTP server. The servers begin spans as the instrumentation of a web
 * framework does.
 */
@Timeout(60)
final class OneTraceTest {

    private final RecordedSpans spans = new RecordedSpans();
    private final OpenTelemetryTracing tracing = OpenTelemetryTracing.of(spans.openTelemetry);
    private final List<Headers> hooks = new CopyOnWriteArrayList<>();
    private final List<HttpServer> servers = new CopyOnWriteArrayList<>();

    @AfterEach
    void stop() {
        servers.forEach(server -> server.stop(0));
    }

    @Test
    void requestCommandOutboxWebhookAndInboxAreOneTrace() throws Exception {
        Postrider billing = Postrider.on(Database.open())
                .inbox(
                        "billing",
                        inbox -> inbox.handler(
                                "create-invoice",
                                "order.placed",
                                (placed, work) -> spans.application
                                        .spanBuilder("invoice")
                                        .startSpan()
                                        .end()))
                .tracing(tracing)
                .build();
        billing.migrate();
        URI hook = serve("/hooks", exchange -> {
            hooks.add(exchange.getRequestHeaders());
            billing.inbox("billing").receive(List.of(received(exchange)));
        });
        Postrider shop = Postrider.on(Database.open())
                .topic("orders", topic -> topic.deliver(Webhook.toInternal(hook)))
                .tracing(tracing)
                .build();
        shop.migrate();
        URI orders = serve("/orders", exchange -> place(shop));

        HttpRequest request = HttpRequest.newBuilder(orders)
                .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        int status = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.discarding())
                .statusCode();
        assertThat(status).isEqualTo(204);
        assertThat(shop.deliverDue()).isEqualTo(1);
        assertThat(billing.deliverDue()).isEqualTo(1);

        List<SpanData> trace = List.of(
                spans.only("POST /orders"),
                spans.only("execute orders.place"),
                spans.only("create orders"),
                spans.only("send orders"),
                spans.only("POST /hooks"),
                spans.only("process shop/orders"),
                spans.only("invoice"));
        assertThat(trace.get(0).getTraceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
        assertThat(trace.get(0).getParentSpanId()).isEqualTo("b7ad6b7169203331");
        for (int i = 1; i < trace.size(); i++) {
            assertChild(trace.get(i), trace.get(i - 1));
        }
        assertThat(spans.all()).hasSameSizeAs(trace);

        Headers sent = hooks.get(0);
        assertThat(sent.getFirst("traceparent"))
                .as("of this hop")
                .isEqualTo(contextOf(spans.only("send orders")).traceparent());
        assertThat(sent.getFirst("ce-traceparent"))
                .as("of the event")
                .isEqualTo(contextOf(spans.only("create orders")).traceparent());
    }

    private static void place(Postrider shop) {
        Command<String> command = Command.named("orders.place")
                .caller("ada")
                .key("key-of-the-request")
                .fingerprint("order 42")
                .returningText();
        shop.commands().run(command, transaction -> {
            transaction.stage(
                    Message.to("orders").type("order.placed").json("{}").build());
            return "placed";
        });
    }

    private static Message received(HttpExchange exchange) throws IOException {
        Headers headers = exchange.getRequestHeaders();
        return Message.received("shop/orders", headers.getFirst("webhook-id"))
                .type(headers.getFirst("ce-type"))
                .json(new String(exchange.getRequestBody().readAllBytes(), UTF_8))
                .build();
    }

    @FunctionalInterface
    private interface Endpoint {
        void handle(HttpExchange exchange) throws IOException;
    }

    /** Begins a span for each request, below that of the client. */
    private URI serve(String path, Endpoint endpoint) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        servers.add(server);
        server.createContext(path, exchange -> {
            Context client = W3CTraceContextPropagator.getInstance()
                    .extract(Context.root(), exchange.getRequestHeaders(), new RequestHeaders());
            spans.under("POST " + path, client, () -> endpoint.handle(exchange));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        return URI.create("http://localhost:" + server.getAddress().getPort() + path);
    }

    private static final class RequestHeaders implements TextMapGetter<Headers> {

        @Override
        public @Nullable String get(@Nullable Headers headers, String key) {
            return headers == null ? null : headers.getFirst(key);
        }
    }
}
