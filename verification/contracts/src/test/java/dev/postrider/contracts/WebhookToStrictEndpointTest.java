package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedHandler;
import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.message.Message;
import dev.postrider.testkit.InMemoryCommands;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.http.Webhook;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Postrider's webhooks and Postrider's own endpoints agree on how a key is written. */
@Timeout(180)
final class WebhookToStrictEndpointTest {

    private JdkServer server;

    @BeforeEach
    void start() throws Exception {
        server = new JdkServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"invoice-1", "acme;invoice-1", "a \"b\" \\c", "Şile", "%C5%9Eile", "LONG", ""})
    void strictEndpointRunsADeliveryOnce(String text) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        KeyedHandler<RuntimeException> handler = (call, transaction) -> {
            runs.incrementAndGet();
            return KeyedResponse.of(204);
        };
        Webhook webhook = Webhook.toInternal(server.serve(
                IdempotencyKey.required("hooks").strict().anyCaller().around(new InMemoryCommands(), handler)));
        String key = text.equals("LONG") ? "😀".repeat(127) : text;
        Message.Builder message = Message.to("orders").type("order.placed").json("{}");
        Message sent =
                key.isEmpty() ? message.build() : message.idempotencyKey(key).build();

        for (int attempt = 1; attempt <= 2; attempt++) {
            DeliveryResult result = webhook.deliver(new Delivery(sent, attempt))
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS);
            assertThat(result).isEqualTo(DeliveryResult.delivered());
        }
        assertThat(runs).hasValue(1);
    }
}
