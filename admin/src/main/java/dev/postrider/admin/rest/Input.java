package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of a request, checked against the fields that the route declares. What is not declared, comes twice or has
 * another type is refused: a parameter that is ignored would select more than the operator meant. Immutable.
 */
final class Input {

    private static final int MOST_PARAMETERS = 1100;

    private final Map<String, Object> values;

    private Input(Map<String, Object> values) {
        this.values = values;
    }

    /** @param query as sent, still encoded */
    static Input ofQuery(@Nullable String query, List<Field<?>> fields) {
        Map<String, Field<?>> declared = byName(fields);
        Map<String, @Nullable Object> given = new LinkedHashMap<>();
        for (String parameter : query == null || query.isEmpty() ? new String[0] : split(query)) {
            int equals = parameter.indexOf('=');
            if (equals < 0) {
                throw ProblemType.BAD_INPUT
                        .because("Each parameter of the query must have a name and a value: name=value")
                        .refusal();
            }
            String name = decoded(parameter.substring(0, equals));
            String value = decoded(parameter.substring(equals + 1));
            Field<?> field = known(declared, name);
            if (field.type() instanceof FieldType.Many) {
                list(given, name).add(value);
            } else if (given.put(name, value) != null) {
                throw Problem.ofField(field.name(), "must come once").refusal();
            }
        }
        return new Input(read(given, declared));
    }

    private static String[] split(String query) {
        String[] parameters = query.split("&", MOST_PARAMETERS + 1);
        if (parameters.length > MOST_PARAMETERS) {
            throw ProblemType.BAD_INPUT
                    .because("The query must have at most " + MOST_PARAMETERS + " parameters")
                    .refusal();
        }
        return parameters;
    }

    @SuppressWarnings("unchecked") // only this method puts lists
    private static List<Object> list(Map<String, @Nullable Object> given, String name) {
        return (List<Object>) given.computeIfAbsent(name, key -> new ArrayList<>());
    }

    /** @param members values of JSON; null counts as absent */
    static Input ofMembers(Map<String, ? extends @Nullable Object> members, List<Field<?>> fields) {
        Map<String, Field<?>> declared = byName(fields);
        members.keySet().forEach(name -> known(declared, name));
        return new Input(read(members, declared));
    }

    private static Map<String, Field<?>> byName(List<Field<?>> fields) {
        Map<String, Field<?>> declared = new LinkedHashMap<>();
        fields.forEach(field -> declared.put(field.name(), field));
        return declared;
    }

    /** The name in the problem is one of ours, or shortened: what a client sends is not repeated in full. */
    private static Field<?> known(Map<String, Field<?>> declared, String name) {
        Field<?> field = declared.get(name);
        if (field == null) {
            String shown = name.replaceAll("[^A-Za-z0-9._-]", "?");
            throw Problem.ofField(
                            shown.length() > 40 ? shown.substring(0, 40) : shown,
                            "is not known here. Known: "
                                    + (declared.isEmpty() ? "none" : String.join(", ", declared.keySet())))
                    .refusal();
        }
        return field;
    }

    private static Map<String, Object> read(
            Map<String, ? extends @Nullable Object> given, Map<String, Field<?>> declared) {
        Map<String, Object> values = new HashMap<>();
        declared.forEach((name, field) -> {
            Object value = given.get(name);
            if (value != null) {
                values.put(name, field.type().read(name, value));
            } else if (field.isRequired()) {
                throw Problem.ofField(name, "is missing").refusal();
            }
        });
        return values;
    }

    /** Decodes a part of a query. Malformed escapes and bytes that are not UTF-8 are refused, not replaced. */
    private static String decoded(String part) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(part.length());
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (c == '%') {
                boolean isEscape = i + 2 < part.length()
                        && HexFormat.isHexDigit(part.charAt(i + 1))
                        && HexFormat.isHexDigit(part.charAt(i + 2));
                if (!isEscape) {
                    throw notText();
                }
                bytes.write(HexFormat.fromHexDigits(part, i + 1, i + 3));
                i += 2;
            } else if (c > 0x7f) {
                throw notText();
            } else {
                bytes.write(c == '+' ? ' ' : c);
            }
        }
        try {
            return UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(bytes.toByteArray()))
                    .toString();
        } catch (CharacterCodingException e) {
            throw notText();
        }
    }

    private static Refusal notText() {
        return ProblemType.BAD_INPUT
                .because("The query must be percent-encoded UTF-8")
                .refusal();
    }

    /** Returns the value; null if it was not given. */
    @SuppressWarnings("unchecked") // the field has read the value
    <T> @Nullable T get(Field<T> field) {
        return (T) values.get(field.name());
    }

    /** Returns the value of a field that is required, or of one that has a default. */
    <T> T get(Field<T> field, T otherwise) {
        @Nullable T value = get(field);
        return value == null ? otherwise : value;
    }

    /** Returns the value of a required field. */
    <T> T require(Field<T> field) {
        @Nullable T value = get(field);
        if (value == null) {
            throw new IllegalStateException(field.name() + " is not a required field");
        }
        return value;
    }
}
