package dev.postrider.server.cli;

import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The conditions that select messages. All that are given must be met. */
final class FilterOptions {

    @Option(
            names = "--state",
            paramLabel = "STATE",
            split = ",",
            converter = Words.ToState.class,
            completionCandidates = Words.States.class,
            description = "One or several of ${COMPLETION-CANDIDATES}.")
    private List<StoredMessage.State> states = new ArrayList<>();

    @Option(
            names = "--topic",
            paramLabel = "TOPIC",
            description = "In this topic; NAMESPACE/TOPIC outside the default one.")
    private @Nullable String topic;

    @Option(names = "--namespace", paramLabel = "NAME", description = "In the topics of this namespace.")
    private @Nullable String namespace;

    @Option(names = "--tenant", paramLabel = "NAME", description = "Of this tenant.")
    private @Nullable String tenant;

    @Option(names = "--type", paramLabel = "TYPE", description = "Of this type, such as order.placed.")
    private @Nullable String type;

    @Option(names = "--key", paramLabel = "KEY", description = "With this ordering key.")
    private @Nullable String key;

    @Option(names = "--idempotency-key", paramLabel = "KEY", description = "With this idempotency key.")
    private @Nullable String idempotencyKey;

    @Option(names = "--correlation-id", paramLabel = "ID", description = "With this correlation id.")
    private @Nullable String correlationId;

    @Option(
            names = "--fingerprint",
            paramLabel = "TEXT",
            description = "Dead or parked with an error of this fingerprint, as 'failures' shows it.")
    private @Nullable String fingerprint;

    @Option(names = "--error", paramLabel = "TEXT", description = "With this text in the last error.")
    private @Nullable String error;

    @Option(names = "--min-attempts", paramLabel = "N", description = "Attempted at least so often.")
    private @Nullable Integer minAttempts;

    @Option(
            names = "--created-from",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Written at this time or later.")
    private @Nullable Instant createdFrom;

    @Option(
            names = "--created-to",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Written before this time.")
    private @Nullable Instant createdTo;

    @Option(
            names = "--since",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Written within this time, such as 2h, by the clock of this computer.")
    private @Nullable Duration since;

    @Option(
            names = "--older-than",
            paramLabel = "DURATION",
            converter = Words.ToDuration.class,
            description = "Written longer ago than this, such as 20m, by the clock of this computer.")
    private @Nullable Duration olderThan;

    @Option(
            names = "--due-from",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Due at this time or later.")
    private @Nullable Instant dueFrom;

    @Option(
            names = "--due-to",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Due before this time.")
    private @Nullable Instant dueTo;

    @Option(
            names = "--delivered-from",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Delivered at this time or later.")
    private @Nullable Instant deliveredFrom;

    @Option(
            names = "--delivered-to",
            paramLabel = "TIME",
            converter = Words.ToInstant.class,
            description = "Delivered before this time.")
    private @Nullable Instant deliveredTo;

    /** Returns the filter that the options describe. Without an option it selects every message. */
    Filter filter() {
        return filter(Clock.systemUTC());
    }

    Filter filter(Clock clock) {
        Filter filter = Filter.all().states(states);
        filter = with(filter, topic, Filter::topic);
        filter = with(filter, namespace, Filter::namespace);
        filter = with(filter, tenant, Filter::tenant);
        filter = with(filter, type, Filter::type);
        filter = with(filter, key, Filter::orderingKey);
        filter = with(filter, idempotencyKey, Filter::idempotencyKey);
        filter = with(filter, correlationId, Filter::correlationId);
        filter = with(filter, fingerprint, Filter::fingerprint);
        filter = with(filter, error, Filter::errorContains);
        filter = with(filter, minAttempts, Filter::attemptsAtLeast);
        filter = between(
                filter,
                Filter::created,
                either("--created-from", createdFrom, "--since", ago(clock, since)),
                either("--created-to", createdTo, "--older-than", ago(clock, olderThan)));
        filter = between(filter, Filter::due, dueFrom, dueTo);
        return between(filter, Filter::delivered, deliveredFrom, deliveredTo);
    }

    private static <V> Filter with(Filter filter, @Nullable V value, BiFunction<Filter, V, Filter> condition) {
        return value == null ? filter : condition.apply(filter, value);
    }

    /** The condition on one of the times of a message. */
    @FunctionalInterface
    private interface Range {
        Filter in(Filter filter, @Nullable Instant from, @Nullable Instant to);
    }

    private static Filter between(Filter filter, Range range, @Nullable Instant from, @Nullable Instant to) {
        return from == null && to == null ? filter : range.in(filter, from, to);
    }

    private static @Nullable Instant ago(Clock clock, @Nullable Duration duration) {
        return duration == null ? null : clock.instant().minus(duration);
    }

    private static @Nullable Instant either(
            String option, @Nullable Instant time, String other, @Nullable Instant otherTime) {
        if (time != null && otherTime != null) {
            throw CommandFailure.usage(option + " and " + other + " limit the same time: keep one");
        }
        return time == null ? otherTime : time;
    }
}
