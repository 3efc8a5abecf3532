package dev.postrider.server.api;

import dev.postrider.admin.Filter;
import dev.postrider.admin.Filter.AttemptsAtLeast;
import dev.postrider.admin.Filter.Attribute;
import dev.postrider.admin.Filter.Between;
import dev.postrider.admin.Filter.Condition;
import dev.postrider.admin.Filter.Equal;
import dev.postrider.admin.Filter.ErrorContains;
import dev.postrider.admin.Filter.Ids;
import dev.postrider.admin.Filter.InTopic;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A filter as the admin API writes it: parameters of lists, members of actions. Pure functions. */
final class FilterMembers {

    private FilterMembers() {}

    /** Returns texts, and lists of texts for what may be repeated. */
    static Map<String, Object> of(Filter filter) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (!filter.states().isEmpty()) {
            members.put(
                    "state",
                    filter.states().stream().map(FilterMembers::word).sorted().toList());
        }
        filter.conditions().forEach(condition -> put(members, condition));
        return members;
    }

    private static void put(Map<String, Object> members, Condition condition) {
        if (condition instanceof Ids ids) {
            members.put("id", ids.ids().stream().map(Object::toString).toList());
        } else if (condition instanceof InTopic topic) {
            members.put("topic", topic.name().toString());
        } else if (condition instanceof Equal equal) {
            members.put(name(equal.attribute()), equal.value());
        } else if (condition instanceof ErrorContains error) {
            members.put("error", error.text());
        } else if (condition instanceof AttemptsAtLeast least) {
            members.put("minAttempts", Integer.toString(least.attempts()));
        } else if (condition instanceof Between between) {
            putTime(members, word(between.time()) + "From", between.from());
            putTime(members, word(between.time()) + "To", between.to());
        }
    }

    private static void putTime(Map<String, Object> members, String name, @Nullable Instant time) {
        if (time != null) {
            members.put(name, time.toString());
        }
    }

    private static String name(Attribute attribute) {
        return switch (attribute) {
            case NAMESPACE -> "namespace";
            case TENANT -> "tenant";
            case TYPE -> "type";
            case ORDERING_KEY -> "key";
            case IDEMPOTENCY_KEY -> "idempotencyKey";
            case FINGERPRINT -> "fingerprint";
            case CORRELATION_ID -> "correlationId";
        };
    }

    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns each name with each of its values, for a query. */
    static List<Map.Entry<String, String>> pairs(Map<String, ?> members) {
        return members.entrySet().stream()
                .flatMap(member -> (member.getValue() instanceof List<?> list ? list : List.of(member.getValue()))
                        .stream().map(value -> Map.entry(member.getKey(), String.valueOf(value))))
                .toList();
    }
}
