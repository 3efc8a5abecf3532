package dev.postrider.server;

import dev.postrider.admin.TopicStatus;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats the status of topics for people and for programs. Pure functions. */
final class StatusText {

    private static final List<String> HEADINGS = List.of(
            "TOPIC", "STATE", "WAITING", "SCHEDULED", "RETRYING", "PROCESSING", "BLOCKED", "PARKED", "DEAD", "OLDEST");

    private StatusText() {}

    static String table(List<TopicStatus> topics) {
        if (topics.isEmpty()) {
            return "No topics are registered yet: a relay or an application registers its own when it starts.";
        }
        int width = topics.stream()
                .mapToInt(topic -> topic.topic().toString().length())
                .reduce(HEADINGS.get(0).length(), Math::max);
        String format = "%-" + width + "s  %-7s %8s %10s %9s %11s %8s %7s %6s %8s";
        return String.format(Locale.ROOT, format, HEADINGS.toArray())
                + topics.stream().map(topic -> "\n" + row(format, topic)).collect(Collectors.joining());
    }

    private static String row(String format, TopicStatus topic) {
        return String.format(
                Locale.ROOT,
                format,
                topic.topic(),
                state(topic),
                topic.waiting(),
                topic.scheduled(),
                topic.retrying(),
                topic.processing(),
                topic.blocked(),
                topic.parked(),
                topic.dead(),
                age(topic.oldest()));
    }

    private static String state(TopicStatus topic) {
        if (topic.paused()) {
            return "paused";
        }
        return topic.nodes() == 0 ? "no-node" : "active";
    }

    /** The age in its largest units. */
    static String age(Duration age) {
        if (age.isZero()) {
            return "-";
        }
        if (age.toDays() > 0) {
            return age.toDays() + "d" + age.toHoursPart() + "h";
        }
        if (age.toHours() > 0) {
            return age.toHours() + "h" + age.toMinutesPart() + "m";
        }
        return age.toMinutes() > 0
                ? age.toMinutes() + "m" + age.toSecondsPart() + "s"
                : String.format(Locale.ROOT, "%.1fs", age.toMillis() / 1000.0);
    }

    /** Formats JSON. Topic names have no characters that JSON would have to escape. */
    static String json(List<TopicStatus> topics) {
        return topics.stream().map(StatusText::json).collect(Collectors.joining(",", "{\"topics\":[", "]}"));
    }

    /** Formats a JSON object on each line. */
    static String ndjson(List<TopicStatus> topics) {
        return topics.stream().map(StatusText::json).collect(Collectors.joining(System.lineSeparator()));
    }

    private static String json(TopicStatus topic) {
        return String.format(
                Locale.ROOT,
                "{\"topic\":\"%s\",\"paused\":%b,\"nodes\":%d,\"waiting\":%d,\"scheduled\":%d,\"retrying\":%d,\"processing\":%d,"
                        + "\"blocked\":%d,\"parked\":%d,\"dead\":%d,\"oldestMillis\":%d}",
                topic.topic(),
                topic.paused(),
                topic.nodes(),
                topic.waiting(),
                topic.scheduled(),
                topic.retrying(),
                topic.processing(),
                topic.blocked(),
                topic.parked(),
                topic.dead(),
                topic.oldest().toMillis());
    }
}
