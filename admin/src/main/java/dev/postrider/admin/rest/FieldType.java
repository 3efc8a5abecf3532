package dev.postrider.admin.rest;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The type of a parameter or member: how it is read, and how the OpenAPI document describes it.
 *
 * @param <T> the value as the handlers get it
 */
sealed interface FieldType<T> {

    /**
     * Reads a value: a text of the query, or a value of JSON.
     *
     * @throws Refusal when it has another type
     */
    T read(String name, Object given);

    Map<String, Object> schema();

    /** Any text. The library checks what it may contain. */
    record Text() implements FieldType<String> {

        private static final int LONGEST = 2000;

        @Override
        public String read(String name, Object given) {
            if (!(given instanceof String text)) {
                throw Problem.ofField(name, "must be a text").refusal();
            }
            if (text.isEmpty() || text.length() > LONGEST) {
                throw Problem.ofField(name, "must have 1 to " + LONGEST + " characters")
                        .refusal();
            }
            return text;
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string");
        }
    }

    /** A whole number, as a number or as decimal text. */
    record WholeNumber() implements FieldType<Integer> {

        private static final Pattern TEXT = Pattern.compile("-?[0-9]{1,18}");

        @Override
        public Integer read(String name, Object given) {
            if (given instanceof Long
                    || (given instanceof String text && TEXT.matcher(text).matches())) {
                long number = Long.parseLong(given.toString());
                if (number == (int) number) {
                    return (int) number;
                }
            }
            throw Problem.ofField(name, "must be a whole number of at most " + Integer.MAX_VALUE)
                    .refusal();
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "integer");
        }
    }

    /** A number of the database, as decimal text. */
    record Sequence() implements FieldType<Long> {

        private static final Pattern TEXT = Pattern.compile("[0-9]{1,18}");

        @Override
        public Long read(String name, Object given) {
            if (given instanceof String text && TEXT.matcher(text).matches()) {
                return Long.valueOf(text);
            }
            throw Problem.ofField(name, "must be a decimal number of up to 18 digits")
                    .refusal();
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string", "pattern", "^[0-9]{1,18}$");
        }
    }

    /** A moment. A time without its offset could mean two moments, so it is refused. */
    record Moment() implements FieldType<Instant> {

        @Override
        public Instant read(String name, Object given) {
            try {
                return Instant.parse(new Text().read(name, given));
            } catch (DateTimeParseException e) {
                throw Problem.ofField(name, "must be an instant such as 2026-11-20T08:30:00Z")
                        .refusal();
            }
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string", "format", "date-time");
        }
    }

    /** True or false. */
    record Flag() implements FieldType<Boolean> {

        @Override
        public Boolean read(String name, Object given) {
            if (given instanceof Boolean || given.equals("true") || given.equals("false")) {
                return Boolean.valueOf(given.toString());
            }
            throw Problem.ofField(name, "must be true or false").refusal();
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "boolean");
        }
    }

    /** The name of a topic. */
    record Topic() implements FieldType<TopicName> {

        @Override
        public TopicName read(String name, Object given) {
            try {
                return TopicName.of(new Text().read(name, given));
            } catch (InvalidMessageException e) {
                throw Problem.ofField(name, "is not the name of a topic: " + e.getMessage())
                        .refusal();
            }
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string");
        }
    }

    /** The id of a message. */
    record Id() implements FieldType<MessageId> {

        @Override
        public MessageId read(String name, Object given) {
            return new MessageId(new Reference().read(name, given));
        }

        @Override
        public Map<String, Object> schema() {
            return new Reference().schema();
        }
    }

    /** A UUID in its usual form of 36 characters. */
    record Reference() implements FieldType<UUID> {

        @Override
        public UUID read(String name, Object given) {
            try {
                return MessageId.of(new Text().read(name, given)).value();
            } catch (InvalidMessageException e) {
                throw Problem.ofField(name, "must be a UUID of 36 characters").refusal();
            }
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string", "format", "uuid");
        }
    }

    /** One of a closed set of words. */
    record Word<E extends Enum<E>>(Class<E> type, Set<E> allowed) implements FieldType<E> {

        static <E extends Enum<E>> Word<E> of(Class<E> type) {
            return new Word<>(type, EnumSet.allOf(type));
        }

        @Override
        public E read(String name, Object given) {
            @Nullable E found = Words.find(type, given.toString());
            if (!(given instanceof String) || found == null || !allowed.contains(found)) {
                throw Problem.ofField(name, "must be one of " + String.join(", ", words()))
                        .refusal();
            }
            return found;
        }

        private List<String> words() {
            return allowed.stream().sorted().map(Words::of).toList();
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "string", "enum", words());
        }
    }

    /** A list, or one value alone. In a query the parameter is repeated. */
    record Many<T>(FieldType<T> of) implements FieldType<List<T>> {

        private static final int MOST = 1000;

        @Override
        public List<T> read(String name, Object given) {
            List<?> values = given instanceof List<?> list ? list : List.of(given);
            if (values.isEmpty() || values.size() > MOST) {
                throw Problem.ofField(name, "must have 1 to " + MOST + " values")
                        .refusal();
            }
            List<T> read = new ArrayList<>();
            for (Object value : values) {
                if (value == null) {
                    throw Problem.ofField(name, "must not contain null").refusal();
                }
                read.add(of.read(name, value));
            }
            return List.copyOf(read);
        }

        @Override
        public Map<String, Object> schema() {
            return Map.of("type", "array", "items", of.schema(), "maxItems", MOST);
        }
    }

    /** An object. */
    record Members(List<Field<?>> fields) implements FieldType<Input> {

        @Override
        public Input read(String name, Object given) {
            if (!(given instanceof Map<?, ?> members)) {
                throw Problem.ofField(name, "must be an object").refusal();
            }
            Map<String, @Nullable Object> texts = new LinkedHashMap<>();
            members.forEach((key, value) -> texts.put(String.valueOf(key), value));
            return Input.ofMembers(texts, fields);
        }

        @Override
        public Map<String, Object> schema() {
            Map<String, Object> properties = new LinkedHashMap<>();
            fields.forEach(field -> properties.put(field.name(), field.schema()));
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("type", "object");
            schema.put("properties", properties);
            List<String> required =
                    fields.stream().filter(Field::isRequired).map(Field::name).toList();
            if (!required.isEmpty()) {
                schema.put("required", required);
            }
            schema.put("additionalProperties", false);
            return schema;
        }
    }
}
