package dev.postrider.server.api;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A JSON object of the admin API. A member that is missing or of another type than expected throws. Immutable. */
record ApiAnswer(Map<String, @Nullable Object> members) {

    @Nullable
    String textOrNull(String name) {
        Object value = members.get(name);
        return value == null ? null : value.toString();
    }

    String text(String name) {
        String text = textOrNull(name);
        if (text == null) {
            throw missing(name);
        }
        return text;
    }

    /** Reads a number, which may be written as text. */
    long number(String name) {
        return Long.parseLong(text(name));
    }

    @Nullable
    Integer integerOrNull(String name) {
        String text = textOrNull(name);
        return text == null ? null : Integer.valueOf(text);
    }

    int integer(String name) {
        return Integer.parseInt(text(name));
    }

    boolean flag(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    Instant time(String name) {
        return Instant.parse(text(name));
    }

    @Nullable
    Instant timeOrNull(String name) {
        String text = textOrNull(name);
        return text == null ? null : Instant.parse(text);
    }

    TopicName topic(String name) {
        return TopicName.of(text(name));
    }

    MessageId id(String name) {
        return MessageId.of(text(name));
    }

    @Nullable
    MessageId idOrNull(String name) {
        String text = textOrNull(name);
        return text == null ? null : MessageId.of(text);
    }

    /** Reads a constant, which is in lower case with dashes. */
    <E extends Enum<E>> E word(String name, Class<E> type) {
        return Enum.valueOf(type, text(name).toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    ApiAnswer object(String name) {
        return new ApiAnswer(object(members.get(name), name));
    }

    <T> List<T> list(String name, Function<ApiAnswer, T> read) {
        List<T> list = new ArrayList<>();
        for (Object element : elements(name)) {
            list.add(read.apply(new ApiAnswer(object(element, name))));
        }
        return list;
    }

    List<?> elements(String name) {
        if (!(members.get(name) instanceof List<?> list)) {
            throw missing(name);
        }
        return list;
    }

    @SuppressWarnings("unchecked") // the keys of a JSON object are texts
    private static Map<String, @Nullable Object> object(@Nullable Object value, String name) {
        if (!(value instanceof Map<?, ?>)) {
            throw missing(name);
        }
        return (Map<String, @Nullable Object>) value;
    }

    private static IllegalArgumentException missing(String name) {
        return new IllegalArgumentException("the member '" + name + "' is missing");
    }
}
