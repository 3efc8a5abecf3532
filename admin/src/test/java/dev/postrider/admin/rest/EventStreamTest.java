package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.Count;
import dev.postrider.admin.Sample;
import dev.postrider.admin.TopicSample;
import dev.postrider.event.Event;
import dev.postrider.event.NodeLoad;
import dev.postrider.health.HealthCheck;
import dev.postrider.health.HealthThresholds;
import dev.postrider.message.TopicName;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Samples and health of a process, at once and as server-sent events. */
@Timeout(60)
@ParameterizedClass(name = "{0}")
@EnumSource(Server.class)
final class EventStreamTest {

    private static final TopicName ORDERS = TopicName.of("orders");

    private final Fixture fixture = Fixture.onH2();
    private final HealthCheck health = HealthCheck.with(HealthThresholds.defaults());
    private final AdminEvents events = AdminEvents.of(health);
    private final Server.Running running;
    private final Client client;

    EventStreamTest(Server server) throws Exception {
        running = server.start(fixture.api().events(events).build());
        client = running.client(Fixture.VIEWER);
    }

    @AfterEach
    void close() {
        events.close();
        running.close();
        fixture.close();
    }

    private void publish(long dead) {
        Count none = Count.ZERO;
        TopicSample topic = new TopicSample(
                ORDERS,
                false,
                1,
                none,
                none,
                none,
                none,
                none,
                none,
                Count.exactly(dead),
                none,
                none,
                none,
                Duration.ZERO);
        Sample sample = new Sample(
                Instant.EPOCH.plusSeconds(dead),
                "node-1",
                Duration.ofMillis(3),
                List.of(topic),
                none,
                none,
                Map.of(),
                none,
                null);
        NodeLoad load = new NodeLoad(
                "node-1",
                7,
                Duration.ZERO,
                "",
                List.of(new NodeLoad.TopicLoad(ORDERS, 1, 100, 0, NodeLoad.Circuit.HALF_OPEN)));
        Event sampled = new Event.Sampled(sample, load, Duration.ofSeconds(15));
        health.on(sampled);
        events.on(sampled);
    }

    @Test
    void lastSampleAndHealthAreAnsweredWithoutTheDatabase() throws Exception {
        assertThat(client.get("/v1/sample").outcome()).isEqualTo("404 not-published");
        assertThat(client.get("/v1/health").body()).contains("\"status\":\"degraded\"", "\"cause\":\"no-sample\"");

        publish(3);
        Client.Answer sample = client.get("/v1/sample");
        assertThat(sample.body())
                .contains("\"dead\":3", "\"inFlight\":7", "\"circuit\":\"half-open\"", "\"intervalMillis\":15000");
        assertThat(client.get("/v1/health").body())
                .contains("\"cause\":\"dead-letters\",\"topic\":\"orders\"", "\"cause\":\"circuit-open\"");
    }

    @Test
    void streamBeginsWithWhatIsKnownAndContinuesWithWhatIsNew() throws Exception {
        publish(1);
        HttpResponse<InputStream> response = client.open("/v1/events");
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("text/event-stream");
        assertThat(response.headers().firstValue("Cache-Control")).hasValue("no-store");
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(response.body(), UTF_8))) {
            assertThat(lines.readLine()).isEqualTo("event: sample");
            assertThat(lines.readLine()).startsWith("data: {\"sample\":{").contains("\"dead\":1");
            assertThat(lines.readLine()).isEmpty();
            assertThat(lines.readLine()).isEqualTo("event: health");
            assertThat(lines.readLine()).startsWith("data: {\"status\":\"degraded\"");
            assertThat(lines.readLine()).isEmpty();

            publish(2);
            assertThat(lines.readLine()).isEqualTo("event: sample");
            assertThat(lines.readLine()).contains("\"dead\":2");
            events.close();
            assertThat(lines.lines().toList()).doesNotContain("event: operation");
        }
    }

    @Test
    void streamsAreFewAndEndedOnesMakeRoom() throws Exception {
        List<HttpResponse<InputStream>> streams = new ArrayList<>();
        for (int i = 0; i < AdminEvents.MOST_STREAMS; i++) {
            streams.add(client.open("/v1/events"));
            assertThat(streams.get(i).statusCode()).isEqualTo(200);
        }
        Client.Answer refused = client.get("/v1/events");
        assertThat(refused.outcome()).isEqualTo("503 too-many-streams");
        assertThat(refused.header("Retry-After")).isEqualTo("60");
        assertThat(client.get("/v1/me").status())
                .as("other routes are answered")
                .isEqualTo(200);

        events.close();
        for (HttpResponse<InputStream> stream : streams) {
            assertThat(new String(stream.body().readAllBytes(), UTF_8)).startsWith("event: health");
        }
        try (InputStream again = client.open("/v1/events").body()) {
            assertThat(again.read()).isEqualTo('e');
        }
    }

    @Test
    void slowClientGetsTheNewestEventOfEachKind() throws Exception {
        EventStream stream = Objects.requireNonNull(events.stream());
        publish(1);
        publish(2);
        String first = String.valueOf(stream.next(Duration.ZERO));
        assertThat(first).contains("\"dead\":2").doesNotContain("\"dead\":1");
        assertThat(stream.next(Duration.ZERO)).startsWith(":").endsWith("\n\n");
        stream.close();
        assertThat(stream.next(Duration.ZERO)).isNull();
    }
}
