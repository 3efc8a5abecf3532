package dev.postrider.jdbc;

import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.internal.Json;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The conditions of a filter as SQL about a row {@code m}. Every value is a parameter. The text has no part that a caller wrote. Immutable.
 *
 * @param live whether a message in the live table can meet the filter
 * @param archived whether a message in the archive can meet the filter
 * @param topicId the number of the filter's topic; null if the filter has no topic
 * @param ids the ids that the filter asks for; empty if it asks for no ids
 */
record MessageConditions(
        Filter filter,
        boolean live,
        boolean archived,
        @Nullable Integer topicId,
        List<UUID> ids,
        List<ConditionPart> parts) {

    private static final char ESCAPE = '!';

    /** One condition with the values of its parameters. */
    record ConditionPart(String sql, SqlRunner.Bind bind) {}

    static MessageConditions of(Connection connection, SqlRunner sql, Filter filter) throws SQLException {
        Map<Integer, TopicName> topics = TopicNames.read(connection, sql);
        Set<State> states = filter.states();
        boolean live = states.isEmpty() || states.stream().anyMatch(MessageStates.LIVE::contains);
        boolean archived = states.isEmpty() || states.contains(State.DELIVERED);
        @Nullable Integer topicId = null;
        List<UUID> ids = List.of();
        List<ConditionPart> parts = new ArrayList<>();
        for (Filter.Condition condition : filter.conditions()) {
            if (condition instanceof Filter.Ids wanted) {
                ids = wanted.ids().stream().map(MessageId::value).toList();
            } else if (condition instanceof Filter.Between between) {
                addRange(parts, between);
            } else if (isAboutTopics(condition)) {
                List<Integer> meant = numbers(topics, condition);
                topicId = condition instanceof Filter.InTopic && !meant.isEmpty() ? meant.get(0) : topicId;
                live &= !meant.isEmpty();
                archived &= !meant.isEmpty();
                parts.add(new ConditionPart(
                        ValueList.in("m.topic_id IN ({values})", meant.size()),
                        binder -> ValueList.bindIntegers(binder, meant)));
            } else {
                parts.add(compared(condition));
            }
            live &= !isOnlyOf(condition, Filter.Time.DELIVERED);
            archived &= !isOnlyOf(condition, Filter.Time.DUE) && !isAboutErrors(condition);
        }
        return new MessageConditions(filter, live, archived, topicId, ids, List.copyOf(parts));
    }

    private static boolean isAboutTopics(Filter.Condition condition) {
        return condition instanceof Filter.InTopic || isAbout(condition, Filter.Attribute.NAMESPACE);
    }

    private static boolean isAbout(Filter.Condition condition, Filter.Attribute attribute) {
        return condition instanceof Filter.Equal equal && equal.attribute() == attribute;
    }

    /** Returns the numbers of the topics that a condition means. */
    private static List<Integer> numbers(Map<Integer, TopicName> topics, Filter.Condition condition) {
        return topics.entrySet().stream()
                .filter(entry -> condition instanceof Filter.InTopic topic
                        ? entry.getValue().equals(topic.name())
                        : condition instanceof Filter.Equal equal
                                && entry.getValue().namespace().equals(equal.value()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean isOnlyOf(Filter.Condition condition, Filter.Time time) {
        return condition instanceof Filter.Between between && between.time() == time;
    }

    /** Delivered messages keep no error. */
    private static boolean isAboutErrors(Filter.Condition condition) {
        return condition instanceof Filter.ErrorContains || isAbout(condition, Filter.Attribute.FINGERPRINT);
    }

    private static void addRange(List<ConditionPart> parts, Filter.Between between) {
        String column = switch (between.time()) {
            case CREATED -> "m.created_at";
            case DUE -> "m.available_at";
            case DELIVERED -> "m.delivered_at";
        };
        Instant from = between.from();
        if (from != null) {
            parts.add(new ConditionPart(column + " >= ?", binder -> binder.time(from)));
        }
        Instant to = between.to();
        if (to != null) {
            parts.add(new ConditionPart(column + " < ?", binder -> binder.time(to)));
        }
    }

    private static ConditionPart compared(Filter.Condition condition) {
        if (condition instanceof Filter.ErrorContains error) {
            return new ConditionPart(
                    "m.last_error LIKE ? ESCAPE '!'", binder -> binder.text("%" + escaped(error.text()) + "%"));
        }
        if (condition instanceof Filter.AttemptsAtLeast least) {
            return new ConditionPart("m.attempts >= ?", binder -> binder.integer(least.attempts()));
        }
        if (condition instanceof Filter.Equal equal) {
            return equal(equal.attribute(), equal.value());
        }
        throw new AssertionError("a condition without SQL: " + condition);
    }

    private static ConditionPart equal(Filter.Attribute attribute, String value) {
        return switch (attribute) {
            case TENANT -> new ConditionPart("m.tenant = ?", binder -> binder.text(value));
            case TYPE -> new ConditionPart("m.type = ?", binder -> binder.text(value));
            case ORDERING_KEY -> new ConditionPart("m.ordering_key = ?", binder -> binder.text(value));
            case IDEMPOTENCY_KEY -> new ConditionPart("m.idempotency_key = ?", binder -> binder.text(value));
            case FINGERPRINT -> new ConditionPart("m.fingerprint = ?", binder -> binder.text(value));
            case CORRELATION_ID -> correlationId(value);
            case NAMESPACE -> throw new AssertionError("a namespace is a list of topics");
        };
    }

    /**
     * Finds the member of the packed attributes, whatever is before it: it comes directly behind the headers, or there are none. Headers can
     * have a member of that name, but no header has an object as its value. Quotes within a text are escaped, so no text looks like a member.
     */
    private static ConditionPart correlationId(String value) {
        StringBuilder quoted = new StringBuilder();
        Json.quote(quoted, value);
        String member = escaped("\"correlationId\":" + quoted) + "%";
        return new ConditionPart(
                "(m.attributes LIKE ? ESCAPE '!' OR m.attributes LIKE ? ESCAPE '!' AND m.attributes NOT LIKE ? ESCAPE '!')",
                binder -> binder.text("{%}," + member).text("{%" + member).text("{%\"headers\":{%"));
    }

    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == ESCAPE || c == '%' || c == '_') {
                escaped.append(ESCAPE);
            }
            escaped.append(c);
        }
        return escaped.toString();
    }

    /** The condition on a row of the live table, including its state. */
    String matchesLive() {
        List<String> conditions = new ArrayList<>();
        if (!filter.states().isEmpty()) {
            List<String> states = new ArrayList<>();
            for (State state : State.values()) {
                if (filter.states().contains(state) && state != State.DELIVERED) {
                    states.add(MessageStates.condition(state));
                }
            }
            conditions.add("(" + String.join(" OR ", states) + ")");
        }
        return joined(conditions);
    }

    /** The condition on a row of the archive. */
    String matchesArchived() {
        return joined(new ArrayList<>());
    }

    private String joined(List<String> conditions) {
        parts.forEach(part -> conditions.add(part.sql()));
        return conditions.isEmpty() ? "1 = 1" : String.join(" AND ", conditions);
    }

    /** Binds the parameters of {@link #matchesLive} or {@link #matchesArchived}. */
    Binder bind(Binder binder) throws SQLException {
        for (ConditionPart part : parts) {
            part.bind().to(binder);
        }
        return binder;
    }
}
