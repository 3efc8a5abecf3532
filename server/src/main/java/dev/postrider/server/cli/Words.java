package dev.postrider.server.cli;

import dev.postrider.admin.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The words and figures of the command line: states, durations such as {@code 3m12s}, times. Pure functions. */
final class Words {

    private static final Pattern DURATION =
            Pattern.compile("(?:(\\d{1,6})d)?(?:(\\d{1,9})h)?(?:(\\d{1,9})m)?(?:(\\d{1,12})s)?(?:(\\d{1,15})ms)?");

    private static final Duration LONGEST = Duration.ofDays(36_500);
    private static final DateTimeFormatter SECONDS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private Words() {}

    /** Returns a constant in lower case with dashes. */
    static String of(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns the time in UTC without fractions of a second. */
    static String of(Instant time) {
        return SECONDS.format(time);
    }

    /** Returns the duration in its two largest units: {@code 850ms}, {@code 20s}, {@code 3m12s}, {@code 2h5m}, {@code 1d3h}. */
    static String of(Duration duration) {
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return Math.max(duration.toMillis(), 0) + "ms";
        }
        Duration seconds = Duration.ofSeconds(duration.toSeconds());
        if (seconds.toMinutes() == 0) {
            return seconds.toSeconds() + "s";
        }
        if (seconds.toHours() == 0) {
            return pair(seconds.toMinutes(), "m", seconds.toSecondsPart(), "s");
        }
        return seconds.toDays() == 0
                ? pair(seconds.toHours(), "h", seconds.toMinutesPart(), "m")
                : pair(seconds.toDays(), "d", seconds.toHoursPart(), "h");
    }

    private static String pair(long large, String largeUnit, long small, String smallUnit) {
        return large + largeUnit + (small == 0 ? "" : small + smallUnit);
    }

    /** Returns a number with its noun, in the plural unless there is one. */
    static String count(long number, String noun) {
        return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
    }

    /** Reads {@code 20s}, {@code 3m12s} or {@code 1d}. */
    static final class ToDuration implements ITypeConverter<Duration> {

        @Override
        public Duration convert(String text) {
            Matcher matcher = DURATION.matcher(text);
            if (text.isEmpty() || !matcher.matches()) {
                throw new TypeConversionException(
                        "'" + text + "' is not a duration such as 500ms, 20s, 3m12s, 2h or 7d");
            }
            Duration duration = Duration.ofDays(part(matcher, 1))
                    .plusHours(part(matcher, 2))
                    .plusMinutes(part(matcher, 3))
                    .plusSeconds(part(matcher, 4))
                    .plusMillis(part(matcher, 5));
            if (duration.compareTo(LONGEST) > 0) {
                throw new TypeConversionException("'" + text + "' is longer than " + LONGEST.toDays() + " days");
            }
            return duration;
        }

        private static long part(Matcher matcher, int group) {
            String digits = matcher.group(group);
            return digits == null ? 0 : Long.parseLong(digits);
        }
    }

    /** Reads {@code 2026-11-19T23:00:00Z}, the same with an offset, or a date, which means its beginning in UTC. */
    static final class ToInstant implements ITypeConverter<Instant> {

        @Override
        public Instant convert(String text) {
            Instant time = date(text);
            if (time != null) {
                return time;
            }
            try {
                return OffsetDateTime.parse(text).toInstant();
            } catch (DateTimeParseException e) {
                throw new TypeConversionException("'" + text
                        + "' is not a time such as 2026-11-19T23:00:00Z, 2026-11-20T00:00:00+01:00 or 2026-11-19");
            }
        }

        private static @Nullable Instant date(String text) {
            try {
                return LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
            } catch (DateTimeParseException e) {
                return null;
            }
        }
    }

    /** Reads the state of a message, such as {@code dead}. */
    static final class ToState implements ITypeConverter<StoredMessage.State> {

        @Override
        public StoredMessage.State convert(String text) {
            return states().filter(state -> of(state).equals(text.toLowerCase(Locale.ROOT)))
                    .findFirst()
                    .orElseThrow(() -> new TypeConversionException("'" + text + "' is not a state: it must be one of "
                            + states().map(Words::of).collect(Collectors.joining(", "))));
        }
    }

    /** The states that a filter can ask for, for the completion of the shell. */
    static final class States implements Iterable<String> {

        @Override
        public Iterator<String> iterator() {
            List<String> words = states().map(Words::of).toList();
            return words.iterator();
        }
    }

    private static Stream<StoredMessage.State> states() {
        return Stream.of(StoredMessage.State.values()).filter(state -> state != StoredMessage.State.UNKNOWN);
    }
}
