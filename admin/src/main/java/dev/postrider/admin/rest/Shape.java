package dev.postrider.admin.rest;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How a value is written as JSON, and how the OpenAPI document describes it: both come from one list of members. A member
 * whose name is given with a question mark at the end may be null. Not thread-safe while it is built, then immutable.
 */
final class Shape<T> {

    private record Member<T>(String name, Map<String, Object> schema, BiFunction<T, View, @Nullable Object> value) {}

    private final String name;
    private final List<Member<T>> members = new ArrayList<>();
    private final Map<String, Shape<?>> parts = new LinkedHashMap<>();

    private Shape(String name) {
        this.name = name;
    }

    /** @param name its name in the OpenAPI document */
    static <T> Shape<T> named(String name) {
        return new Shape<>(name);
    }

    /** Adds a text. The value is written by its {@code toString}. */
    Shape<T> text(String member, Function<T, @Nullable Object> value) {
        return member(member, Map.of("type", "string"), (from, view) -> {
            Object text = value.apply(from);
            return text == null ? null : text.toString();
        });
    }

    /** Adds a text that depends on what the operator may see. */
    Shape<T> shown(String member, BiFunction<T, View, @Nullable String> value) {
        return member(member, Map.of("type", "string"), value::apply);
    }

    Shape<T> number(String member, Function<T, @Nullable Number> value) {
        return member(member, Map.of("type", "integer"), (from, view) -> value.apply(from));
    }

    Shape<T> flag(String member, Function<T, Boolean> value) {
        return member(member, Map.of("type", "boolean"), (from, view) -> value.apply(from));
    }

    Shape<T> time(String member, Function<T, @Nullable Instant> value) {
        return member(member, Map.of("type", "string", "format", "date-time"), (from, view) -> {
            Instant time = value.apply(from);
            return time == null ? null : time.toString();
        });
    }

    Shape<T> millis(String member, Function<T, Duration> value) {
        return member(
                member,
                Map.of("type", "integer"),
                (from, view) -> value.apply(from).toMillis());
    }

    /** Adds one of a closed set of words. */
    <E extends Enum<E>> Shape<T> word(String member, Class<E> type, Function<T, @Nullable E> value) {
        List<@Nullable String> words = new ArrayList<>(
                Stream.of(type.getEnumConstants()).map(Words::of).toList());
        if (member.endsWith("?")) {
            words.add(null);
        }
        return member(member, Map.of("type", "string", "enum", words), (from, view) -> {
            E constant = value.apply(from);
            return constant == null ? null : Words.of(constant);
        });
    }

    /** Adds a value that is written as it is: a map, or a list of texts. */
    Shape<T> tree(String member, Map<String, Object> schema, BiFunction<T, View, @Nullable Object> value) {
        return member(member, schema, value);
    }

    <E> Shape<T> one(String member, Shape<E> shape, Function<T, E> value) {
        parts.put(shape.name, shape);
        return member(member, shape.reference(), (from, view) -> shape.write(value.apply(from), view));
    }

    <E> Shape<T> list(String member, Shape<E> shape, Function<T, List<E>> value) {
        parts.put(shape.name, shape);
        return member(
                member,
                Map.of("type", "array", "items", shape.reference()),
                (from, view) -> value.apply(from).stream()
                        .map(item -> shape.write(item, view))
                        .toList());
    }

    private Shape<T> member(String member, Map<String, Object> schema, BiFunction<T, View, @Nullable Object> value) {
        if (!member.endsWith("?")) {
            members.add(new Member<>(member, schema, value));
            return this;
        }
        Map<String, Object> nullable = new LinkedHashMap<>(schema);
        nullable.put("type", List.of(String.valueOf(schema.get("type")), "null"));
        members.add(new Member<>(member.substring(0, member.length() - 1), nullable, value));
        return this;
    }

    Map<String, @Nullable Object> write(T value, View view) {
        Map<String, @Nullable Object> written = new LinkedHashMap<>();
        members.forEach(member -> written.put(member.name(), member.value().apply(value, view)));
        return written;
    }

    String name() {
        return name;
    }

    /** Returns this shape and all that it refers to, by name. */
    Map<String, Shape<?>> all() {
        Map<String, Shape<?>> all = new LinkedHashMap<>();
        all.put(name, this);
        parts.values().forEach(part -> all.putAll(part.all()));
        return all;
    }

    Map<String, Object> reference() {
        return Map.of("$ref", "#/components/schemas/" + name);
    }

    Map<String, Object> schema() {
        Map<String, Object> properties = new LinkedHashMap<>();
        members.forEach(member -> properties.put(member.name(), member.schema()));
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("type", "object");
        schema.put("properties", properties);
        schema.put("required", List.copyOf(properties.keySet()));
        return schema;
    }
}
