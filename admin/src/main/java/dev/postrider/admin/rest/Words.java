package dev.postrider.admin.rest;

import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Constants as JSON has them: in lower case with dashes. Pure functions. */
final class Words {

    private Words() {}

    static String of(Enum<?> constant) {
        return of(constant.name());
    }

    static String of(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the constant that is written like this; null if there is none. */
    static <E extends Enum<E>> @Nullable E find(Class<E> type, String word) {
        return Stream.of(type.getEnumConstants())
                .filter(constant -> of(constant).equals(word))
                .findFirst()
                .orElse(null);
    }
}
