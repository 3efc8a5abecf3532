package dev.postrider.admin;

import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A filter as a JSON object: the version in the member {@code v}, the states, and a member for each condition. A reader refuses a version or
 * a member that it does not know, because it would select other messages.
 */
final class FilterJson {

    private static final long VERSION = 1;

    private static final String V = "v";
    private static final String STATES = "states";
    private static final String IDS = "ids";
    private static final String TOPIC = "topic";
    private static final String NAMESPACE_OF_TOPIC = "namespace";
    private static final String NAME_OF_TOPIC = "name";
    private static final String ERROR = "error";
    private static final String ATTEMPTS = "attempts";
    private static final String FROM = "from";
    private static final String TO = "to";

    private FilterJson() {}

    static String write(Filter filter) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put(V, VERSION);
        if (!filter.states().isEmpty()) {
            members.put(
                    STATES, filter.states().stream().map(State::name).sorted().collect(Collectors.joining(",")));
        }
        for (Filter.Condition condition : filter.conditions()) {
            write(members, condition);
        }
        return Json.writeTree(members);
    }

    private static void write(Map<String, Object> members, Filter.Condition condition) {
        if (condition instanceof Filter.Ids ids) {
            members.put(IDS, ids.ids().stream().map(MessageId::toString).collect(Collectors.joining(",")));
        } else if (condition instanceof Filter.InTopic topic) {
            Map<String, String> name = new LinkedHashMap<>();
            name.put(NAMESPACE_OF_TOPIC, topic.name().namespace());
            name.put(NAME_OF_TOPIC, topic.name().topic());
            members.put(TOPIC, name);
        } else if (condition instanceof Filter.Equal equal) {
            members.put(name(equal.attribute()), equal.value());
        } else if (condition instanceof Filter.ErrorContains error) {
            members.put(ERROR, error.text());
        } else if (condition instanceof Filter.AttemptsAtLeast least) {
            members.put(ATTEMPTS, (long) least.attempts());
        } else if (condition instanceof Filter.Between between) {
            Map<String, String> range = new LinkedHashMap<>();
            put(range, FROM, between.from());
            put(range, TO, between.to());
            members.put(name(between.time()), range);
        }
    }

    private static void put(Map<String, String> range, String name, @Nullable Instant time) {
        if (time != null) {
            range.put(name, time.toString());
        }
    }

    /** The name of a member. No attribute has the name of a time or of another member. */
    private static String name(Enum<?> of) {
        return of.name().toLowerCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException if the text is not a filter that this version can read */
    static Filter read(String text) {
        Map<String, Object> members = new LinkedHashMap<>(Json.readTree(text));
        Object version = members.remove(V);
        if (!Long.valueOf(VERSION).equals(version)) {
            throw new IllegalArgumentException(
                    "the filter is of version " + version + ", and this version of Postrider reads version " + VERSION);
        }
        try {
            Set<State> states = states(members.remove(STATES));
            List<Filter.Condition> conditions = new ArrayList<>();
            members.forEach((name, value) -> conditions.add(condition(name, value)));
            return new Filter(states, conditions);
        } catch (InvalidConfigurationException
                | InvalidMessageException
                | DateTimeException
                | ArithmeticException
                | ClassCastException e) {
            throw new IllegalArgumentException("the filter is not readable: " + e.getMessage(), e);
        }
    }

    private static Set<State> states(@Nullable Object value) {
        Set<State> states = EnumSet.noneOf(State.class);
        if (value instanceof String names) {
            Arrays.stream(names.split(",")).map(State::valueOf).forEach(states::add);
        }
        return states;
    }

    private static Filter.Condition condition(String name, Object value) {
        switch (name) {
            case IDS -> {
                return new Filter.Ids(
                        Arrays.stream(text(value).split(",")).map(MessageId::of).toList());
            }
            case TOPIC -> {
                Map<?, ?> topic = (Map<?, ?>) value;
                return new Filter.InTopic(
                        new TopicName(text(topic.get(NAMESPACE_OF_TOPIC)), text(topic.get(NAME_OF_TOPIC))));
            }
            case ERROR -> {
                return new Filter.ErrorContains(text(value));
            }
            case ATTEMPTS -> {
                return new Filter.AttemptsAtLeast(Math.toIntExact((Long) value));
            }
            default -> {
                return attributeOrTime(name, value);
            }
        }
    }

    private static Filter.Condition attributeOrTime(String name, Object value) {
        for (Filter.Attribute attribute : Filter.Attribute.values()) {
            if (name(attribute).equals(name)) {
                return new Filter.Equal(attribute, text(value));
            }
        }
        for (Filter.Time time : Filter.Time.values()) {
            if (name(time).equals(name)) {
                Map<?, ?> range = (Map<?, ?>) value;
                return new Filter.Between(time, time(range.get(FROM)), time(range.get(TO)));
            }
        }
        throw new IllegalArgumentException("the filter has the unknown member '" + name + "'");
    }

    private static String text(@Nullable Object value) {
        if (value instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("the filter has no text where one is needed");
    }

    private static @Nullable Instant time(@Nullable Object text) {
        return text == null ? null : Instant.parse(text(text));
    }
}
