package dev.postrider.server;

import dev.postrider.error.InvalidConfigurationException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** One value of a configuration file, to be read as what it must be. Errors name the property. Immutable. */
record Value(String property, String text) {

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ms|s|m|h|d)");

    Duration duration() {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw invalid("must be a duration such as 500ms, 5s, 2m, 1h or 1d, but is '" + text + "'");
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
        };
    }

    int integer() {
        long number = number();
        if (number != (int) number) {
            throw invalid("must be at most " + Integer.MAX_VALUE + ", but is " + text);
        }
        return (int) number;
    }

    long number() {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw invalid("must be a whole number, but is '" + text + "'");
        }
    }

    boolean flag() {
        if (!text.equals("true") && !text.equals("false")) {
            throw invalid("must be true or false, but is '" + text + "'");
        }
        return text.equals("true");
    }

    /** The text is left out of the error: a destination's path and query often hold a token. */
    URI uri() {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw invalid("is not a URL: " + e.getReason() + " at character " + (e.getIndex() + 1));
        }
    }

    /** Constants are written in lower case with dashes. */
    <E extends Enum<E>> E oneOf(Class<E> type) {
        List<String> names =
                Stream.of(type.getEnumConstants()).map(Value::written).toList();
        int index = names.indexOf(text);
        if (index < 0) {
            throw invalid("must be one of " + String.join(", ", names) + ", but is '" + text + "'");
        }
        return type.getEnumConstants()[index];
    }

    static String written(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    InvalidConfigurationException invalid(String problem) {
        return new InvalidConfigurationException(property, problem);
    }

    /** Runs what this value sets; an error of the library comes out under the name that stands in the file. */
    void applying(Runnable change) {
        try {
            change.run();
        } catch (InvalidConfigurationException e) {
            throw e.property().equals(property) ? e : invalid(problem(e));
        }
    }

    static String problem(InvalidConfigurationException e) {
        return String.valueOf(e.getMessage()).substring(e.property().length()).strip();
    }
}
