package dev.postrider.server;

import dev.postrider.event.Event;
import dev.postrider.event.NodeLoad;
import dev.postrider.health.Health;
import dev.postrider.health.RollingWindow;
import dev.postrider.internal.Json;
import dev.postrider.message.TopicName;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes health and the snapshot as JSON. */
final class MonitoringText {

    private MonitoringText() {}

    static String health(Health health) {
        return "{\"status\":\"" + health.status() + "\",\"findings\":["
                + health.findings().stream().map(MonitoringText::finding).collect(Collectors.joining(",")) + "]}";
    }

    private static String finding(Health.HealthFinding finding) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("status", finding.status().name());
        members.put("cause", finding.cause().name());
        TopicName topic = finding.topic();
        if (topic != null) {
            members.put("topic", topic.toString());
        }
        members.put("text", finding.text());
        return Json.write(members);
    }

    /** @param last null before the first sample */
    static String snapshot(Health health, Event.@Nullable Sampled last, RollingWindow window) {
        StringBuilder out = new StringBuilder("{\"health\":").append(health(health));
        if (last != null) {
            out.append(",\"sample\":").append(last.sample().toJson());
            out.append(",\"node\":").append(Json.writeTree(node(last.node())));
        }
        Map<String, Object> attempts = new LinkedHashMap<>();
        window.topics().forEach((topic, counts) -> attempts.put(topic.toString(), attempts(counts, window)));
        return out.append(",\"windowSeconds\":")
                .append(window.length().toSeconds())
                .append(",\"window\":")
                .append(Json.writeTree(attempts))
                .append('}')
                .toString();
    }

    private static Map<String, Object> node(NodeLoad node) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", node.node());
        members.put("inFlight", node.inFlight());
        members.put("clockSkewMillis", node.clockSkew().toMillis());
        Map<String, Object> topics = new LinkedHashMap<>();
        for (NodeLoad.TopicLoad topic : node.topics()) {
            Map<String, Object> load = new LinkedHashMap<>();
            load.put("slotsTaken", topic.slotsTaken());
            load.put("slots", topic.slots());
            load.put("lanesOwned", topic.lanesOwned());
            load.put("circuit", topic.circuit().name());
            topics.put(topic.topic().toString(), load);
        }
        members.put("topics", topics);
        return members;
    }

    private static Map<String, Object> attempts(RollingWindow.Attempts attempts, RollingWindow window) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("delivered", attempts.delivered());
        members.put("failed", attempts.failed());
        members.put("failureRatio", decimal(attempts.failureRatio()));
        members.put(
                "deliveredPerSecond",
                decimal((double) attempts.delivered() / Math.max(window.length().toSeconds(), 1)));
        if (attempts.frequentError() != null) {
            members.put("frequentError", attempts.frequentError());
            members.put("frequentErrorCount", attempts.frequentErrorCount());
        }
        return members;
    }

    private static BigDecimal decimal(double value) {
        return new BigDecimal(String.format(Locale.ROOT, "%.4f", value));
    }
}
