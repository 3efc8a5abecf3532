package dev.postrider.admin;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes and reads samples as JSON. Counts are numbers, or texts such as {@code ">=10001"}. */
final class SampleJson {

    private static final String TOPICS = "topics";
    private static final String COMMANDS = "commands";
    private static final String TRANSACTION = "oldestTransaction";

    private SampleJson() {}

    static String write(Sample sample) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("takenAt", sample.takenAt().toString());
        members.put("node", sample.node());
        members.put("tookMillis", sample.took().toMillis());
        Map<String, Object> topics = new LinkedHashMap<>();
        sample.topics().forEach(topic -> topics.put(topic.topic().toString(), members(topic)));
        members.put(TOPICS, topics);
        members.put("idempotencyKeys", number(sample.idempotencyKeys()));
        members.put("inboxMarks", number(sample.inboxMarks()));
        Map<String, Object> commands = new LinkedHashMap<>();
        new TreeMap<>(sample.commands()).forEach((state, count) -> commands.put(state.name(), number(count)));
        members.put(COMMANDS, commands);
        members.put("stuckCommands", number(sample.stuckCommands()));
        OldestTransaction oldest = sample.oldestTransaction();
        if (oldest != null) {
            members.put(
                    TRANSACTION,
                    Map.of(
                            "session", oldest.session(),
                            "description", oldest.description(),
                            "ageMillis", oldest.age().toMillis()));
        }
        return Json.writeTree(members);
    }

    private static Map<String, Object> members(TopicSample topic) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("paused", topic.paused() ? 1L : 0L);
        members.put("nodes", (long) topic.nodes());
        members.put("waiting", number(topic.waiting()));
        members.put("scheduled", number(topic.scheduled()));
        members.put("retrying", number(topic.retrying()));
        members.put("processing", number(topic.processing()));
        members.put("blocked", number(topic.blocked()));
        members.put("parked", number(topic.parked()));
        members.put("dead", number(topic.dead()));
        members.put("blockedKeys", number(topic.blockedKeys()));
        members.put("attempted", number(topic.attempted()));
        members.put("expiredLeases", number(topic.expiredLeases()));
        members.put("oldestMillis", topic.oldest().toMillis());
        return members;
    }

    private static Object number(Count count) {
        return count.exact() ? (Object) count.value() : count.toString();
    }

    static Sample read(String json) {
        try {
            return sample(json);
        } catch (DateTimeParseException | InvalidMessageException e) {
            throw new IllegalArgumentException("not a sample: " + e.getMessage(), e);
        }
    }

    private static Sample sample(String json) {
        Members all = new Members(Json.readTree(json));
        List<TopicSample> topics = new ArrayList<>();
        all.object(TOPICS).forEach((name, members) -> topics.add(topic(name, new Members(members))));
        Map<StoredCommand.State, Count> commands = new EnumMap<>(StoredCommand.State.class);
        Members counts = new Members(all.object(COMMANDS));
        for (StoredCommand.State state : StoredCommand.State.values()) {
            commands.put(state, counts.count(state.name()));
        }
        return new Sample(
                Instant.parse(all.text("takenAt")),
                all.text("node"),
                all.millis("tookMillis"),
                topics,
                all.count("idempotencyKeys"),
                all.count("inboxMarks"),
                commands,
                all.count("stuckCommands"),
                transaction(new Members(all.object(TRANSACTION))));
    }

    private static @Nullable OldestTransaction transaction(Members members) {
        return members.all().isEmpty()
                ? null
                : new OldestTransaction(
                        members.text("session"), members.text("description"), members.millis("ageMillis"));
    }

    private static TopicSample topic(String name, Members members) {
        return new TopicSample(
                TopicName.of(name),
                members.number("paused") != 0,
                (int) members.number("nodes"),
                members.count("waiting"),
                members.count("scheduled"),
                members.count("retrying"),
                members.count("processing"),
                members.count("blocked"),
                members.count("parked"),
                members.count("dead"),
                members.count("blockedKeys"),
                members.count("attempted"),
                members.count("expiredLeases"),
                members.millis("oldestMillis"));
    }

    /** The members of a JSON object. Missing ones are empty or zero. */
    private record Members(Map<String, Object> all) {

        @SuppressWarnings("unchecked") // the keys of an object are texts
        Members(Object object) {
            this(object instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of());
        }

        @SuppressWarnings("unchecked") // the keys of an object are texts
        Map<String, Object> object(String name) {
            return all.get(name) instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
        }

        String text(String name) {
            return String.valueOf(all.getOrDefault(name, ""));
        }

        long number(String name) {
            return all.get(name) instanceof Long number ? number : 0;
        }

        Duration millis(String name) {
            return Duration.ofMillis(number(name));
        }

        Count count(String name) {
            Object value = all.get(name);
            return value == null ? Count.ZERO : Count.parse(value.toString());
        }
    }
}
