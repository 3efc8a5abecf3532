package dev.postrider.admin.rest;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import java.util.function.Supplier;

/** Reports an error of the library about a value under the name of the field that it came from. */
final class Checked {

    private Checked() {}

    static <T> T field(Field<?> field, Supplier<T> made) {
        try {
            return made.get();
        } catch (InvalidConfigurationException e) {
            throw Problem.ofField(field.name(), problem(e)).refusal();
        } catch (InvalidMessageException e) {
            throw Problem.ofField(field.name(), problem(String.valueOf(e.getMessage()), e.field()))
                    .refusal();
        }
    }

    /** Returns what is wrong, without the name of the property. */
    static String problem(InvalidConfigurationException e) {
        return problem(String.valueOf(e.getMessage()), e.property());
    }

    private static String problem(String message, String name) {
        return message.startsWith(name) ? message.substring(name.length()).strip() : message;
    }
}
