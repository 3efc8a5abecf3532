package dev.postrider.admin.rest;

import dev.postrider.admin.Filter;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The conditions by which messages are selected: parameters of lists, members of actions. */
final class FilterFields {

    private static final FieldType<String> TEXT = new FieldType.Text();
    private static final FieldType<Instant> MOMENT = new FieldType.Moment();

    private static final Field<List<State>> STATE =
            Field.optional("state", new FieldType.Many<>(CommonFields.STATES), "One of these states; all by default.");
    private static final Field<List<MessageId>> ID =
            Field.optional("id", new FieldType.Many<>(new FieldType.Id()), "One of these ids, up to 1000.");
    private static final Field<TopicName> TOPIC =
            Field.optional("topic", new FieldType.Topic(), "The topic: name, or namespace/name.");
    private static final Field<String> NAMESPACE = Field.optional("namespace", TEXT, "The namespace of the topic.");
    private static final Field<String> TENANT = Field.optional("tenant", TEXT, "The tenant.");
    private static final Field<String> TYPE = Field.optional("type", TEXT, "The type of the message.");
    private static final Field<String> KEY = Field.optional("key", TEXT, "The ordering key.");
    private static final Field<String> IDEMPOTENCY_KEY =
            Field.optional("idempotencyKey", TEXT, "The idempotency key of the message.");
    private static final Field<String> CORRELATION_ID = Field.optional("correlationId", TEXT, "The correlation id.");
    private static final Field<String> FINGERPRINT =
            Field.optional("fingerprint", TEXT, "The fingerprint of the error of a dead or parked message.");
    private static final Field<String> ERROR =
            Field.optional("error", TEXT, "A text that the last error contains, in the same case.");
    private static final Field<Integer> MIN_ATTEMPTS =
            Field.optional("minAttempts", new FieldType.WholeNumber(), "Attempted at least so often.");
    private static final Field<Instant> CREATED_FROM =
            Field.optional("createdFrom", MOMENT, "Created at this moment or later.");
    private static final Field<Instant> CREATED_TO = Field.optional("createdTo", MOMENT, "Created before.");
    private static final Field<Instant> DUE_FROM = Field.optional("dueFrom", MOMENT, "Due at this moment or later.");
    private static final Field<Instant> DUE_TO = Field.optional("dueTo", MOMENT, "Due before.");
    private static final Field<Instant> DELIVERED_FROM =
            Field.optional("deliveredFrom", MOMENT, "Delivered at this moment or later.");
    private static final Field<Instant> DELIVERED_TO = Field.optional("deliveredTo", MOMENT, "Delivered before.");

    static final List<Field<?>> ALL = List.of(
            STATE,
            ID,
            TOPIC,
            NAMESPACE,
            TENANT,
            TYPE,
            KEY,
            IDEMPOTENCY_KEY,
            CORRELATION_ID,
            FINGERPRINT,
            ERROR,
            MIN_ATTEMPTS,
            CREATED_FROM,
            CREATED_TO,
            DUE_FROM,
            DUE_TO,
            DELIVERED_FROM,
            DELIVERED_TO);

    private FilterFields() {}

    /** @param tenant the only tenant whose messages may be selected; null for all */
    static Filter read(Input input, @Nullable String tenant) {
        Filter filter = Filter.all();
        filter = with(filter, input, STATE, Filter::states);
        filter = with(filter, input, ID, Filter::ids);
        filter = with(filter, input, TOPIC, Filter::topic);
        filter = with(filter, input, NAMESPACE, Filter::namespace);
        filter = with(filter, input, TENANT, Filter::tenant);
        filter = with(filter, input, TYPE, Filter::type);
        filter = with(filter, input, KEY, Filter::orderingKey);
        filter = with(filter, input, IDEMPOTENCY_KEY, Filter::idempotencyKey);
        filter = with(filter, input, CORRELATION_ID, Filter::correlationId);
        filter = with(filter, input, FINGERPRINT, Filter::fingerprint);
        filter = with(filter, input, ERROR, Filter::errorContains);
        filter = with(filter, input, MIN_ATTEMPTS, Filter::attemptsAtLeast);
        filter = between(filter, input, new Range(CREATED_FROM, CREATED_TO, Filter::created));
        filter = between(filter, input, new Range(DUE_FROM, DUE_TO, Filter::due));
        filter = between(filter, input, new Range(DELIVERED_FROM, DELIVERED_TO, Filter::delivered));
        return tenant == null ? filter : scoped(filter, input.get(TENANT), tenant);
    }

    private static <T> Filter with(Filter filter, Input input, Field<T> field, BiFunction<Filter, T, Filter> change) {
        @Nullable T value = input.get(field);
        return value == null ? filter : Checked.field(field, () -> change.apply(filter, value));
    }

    /** Adds a range of times to a filter. */
    @FunctionalInterface
    private interface RangeChange {
        Filter apply(Filter filter, @Nullable Instant from, @Nullable Instant to);
    }

    private record Range(Field<Instant> from, Field<Instant> to, RangeChange change) {}

    private static Filter between(Filter filter, Input input, Range range) {
        @Nullable Instant from = input.get(range.from());
        @Nullable Instant to = input.get(range.to());
        return from == null && to == null
                ? filter
                : Checked.field(
                        from == null ? range.to() : range.from(),
                        () -> range.change().apply(filter, from, to));
    }

    private static Filter scoped(Filter filter, @Nullable String asked, String tenant) {
        if (asked != null && !asked.equals(tenant)) {
            throw Tenants.refusal();
        }
        return filter.tenant(tenant);
    }
}
