package dev.postrider.server;

import dev.postrider.error.InvalidConfigurationException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One value of a configuration file, with conversions to the types of properties. Errors name the property. Immutable.
 *
 * @param exact the value with the surrounding blanks of an environment variable
 */
record Value(String property, String exact) {

    private static final Pattern DURATION = Pattern.compile("([0-9]{1,18})(ms|s|m|h|d)");

    /** Far above every limit of the library, and short enough to be counted in nanoseconds. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    String text() {
        return exact.strip();
    }

    /** Parses 20s or PT20S. */
    Duration duration() {
        Matcher matcher = DURATION.matcher(text());
        try {
            Duration duration = matcher.matches()
                    ? Duration.of(Long.parseLong(matcher.group(1)), unit(matcher.group(2)))
                    : Duration.parse(text());
            if (duration.isNegative() || duration.compareTo(LONGEST) > 0) {
                throw invalid("must lie between 0 and " + LONGEST.toDays() + " days, but is '" + text() + "'");
            }
            return duration;
        } catch (DateTimeParseException e) {
            throw invalid("must be a duration such as 500ms, 5s, 2m, 1h or 1d, but is '" + text() + "'");
        } catch (ArithmeticException e) {
            throw invalid("must lie between 0 and " + LONGEST.toDays() + " days, but is '" + text() + "'");
        }
    }

    private static ChronoUnit unit(String name) {
        return switch (name) {
            case "ms" -> ChronoUnit.MILLIS;
            case "s" -> ChronoUnit.SECONDS;
            case "m" -> ChronoUnit.MINUTES;
            case "h" -> ChronoUnit.HOURS;
            default -> ChronoUnit.DAYS;
        };
    }

    int integer() {
        long number = number();
        if (number != (int) number) {
            throw invalid("must be at most " + Integer.MAX_VALUE + ", but is " + text());
        }
        return (int) number;
    }

    long number() {
        try {
            return Long.parseLong(text());
        } catch (NumberFormatException e) {
            throw invalid("must be a whole number, but is '" + text() + "'");
        }
    }

    boolean flag() {
        if (!text().equals("true") && !text().equals("false")) {
            throw invalid("must be true or false, but is '" + text() + "'");
        }
        return text().equals("true");
    }

    /**
     * Parses a URL. The error does not contain the text, because the path and the query of a destination often contain
     * a token.
     */
    URI uri() {
        try {
            return new URI(text());
        } catch (URISyntaxException e) {
            throw invalid("is not a URL: " + e.getReason() + " at character " + (e.getIndex() + 1));
        }
    }

    /** Parses a constant, written in lower case with dashes. */
    <E extends Enum<E>> E oneOf(Class<E> type) {
        List<String> names =
                Stream.of(type.getEnumConstants()).map(Value::written).toList();
        int index = names.indexOf(text());
        if (index < 0) {
            throw invalid("must be one of " + String.join(", ", names) + ", but is '" + text() + "'");
        }
        return type.getEnumConstants()[index];
    }

    static String written(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    InvalidConfigurationException invalid(String problem) {
        return new InvalidConfigurationException(property, problem);
    }

    /** Runs the change that this value makes. An error of the library is reported under the name that the file uses. */
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
