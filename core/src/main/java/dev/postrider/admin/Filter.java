package dev.postrider.admin;

import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Selects messages for a list or an action: those in one of the states that meet all conditions. Immutable; each method
 * returns a new filter, in which its condition replaces an earlier one of the same kind. A value that no message can
 * have throws {@link InvalidConfigurationException}.
 *
 * <p>Ids, and the time of delivery of delivered messages, are found through an index, and so are the dead letters of an
 * unordered topic (on PostgreSQL of every topic). States and topics with few messages are read through an index too. All
 * other conditions are compared with each message. One call examines at most {@value #EXAMINED} messages, and says
 * where to continue.
 *
 * @param states the states of the selected messages; empty for all
 */
public record Filter(Set<State> states, List<Condition> conditions) {

    /** The number of messages that one page, or one step of an action, examines at most. */
    public static final int EXAMINED = 10_000;

    private static final int LONGEST = 255;
    private static final int LONGEST_ERROR = 1000;
    private static final int MOST_IDS = 1000;

    /** A condition of a filter. */
    public sealed interface Condition {}

    /** The message has one of these ids. */
    public record Ids(List<MessageId> ids) implements Condition {
        public Ids {
            ids = List.copyOf(ids);
            Checks.number("ids", ids.size(), 1, MOST_IDS);
        }

        @Override
        public String toString() {
            return ids.size() == 1 ? "id=" + ids.get(0) : "ids=" + ids.size();
        }
    }

    /** The message is in this topic. */
    public record InTopic(TopicName name) implements Condition {
        @Override
        public String toString() {
            return "topic=" + name;
        }
    }

    /** The attributes that a condition compares with a whole value. */
    public enum Attribute {
        NAMESPACE,
        TENANT,
        TYPE,
        ORDERING_KEY,
        IDEMPOTENCY_KEY,
        /** The fingerprint of the error of a dead or parked message. */
        FINGERPRINT,
        /** Is packed with other attributes, so that the database has to search each text of them. */
        CORRELATION_ID
    }

    /** The attribute has this value, in the same case. */
    public record Equal(Attribute attribute, String value) implements Condition {
        public Equal {
            Checks.text(word(attribute), value, LONGEST);
        }

        @Override
        public String toString() {
            return word(attribute) + "=" + value;
        }
    }

    /** The last error contains this text, in the same case. */
    public record ErrorContains(String text) implements Condition {
        public ErrorContains {
            Checks.text("error", text, LONGEST_ERROR);
        }

        @Override
        public String toString() {
            return "error~" + text;
        }
    }

    /** The message has been attempted at least so often. */
    public record AttemptsAtLeast(int attempts) implements Condition {
        public AttemptsAtLeast {
            Checks.number("attempts", attempts, 1, Integer.MAX_VALUE);
        }

        @Override
        public String toString() {
            return "attempts>=" + attempts;
        }
    }

    /** The times of a message. */
    public enum Time {
        CREATED,
        /** When it is or was due. Delivered messages do not have this time. */
        DUE,
        /** Only delivered messages have this time. */
        DELIVERED
    }

    /**
     * The time is in this range.
     *
     * @param from the first moment; null for no beginning
     * @param to the first moment after the range; null for no end
     */
    public record Between(
            Time time, @Nullable Instant from, @Nullable Instant to) implements Condition {
        private static final Instant FIRST = Instant.EPOCH;
        private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

        public Between {
            Instant first = from == null ? FIRST : from;
            Instant last = to == null ? LAST : to;
            boolean isOpen = from == null && to == null;
            if (isOpen || first.isBefore(FIRST) || last.isAfter(LAST) || !first.isBefore(last)) {
                throw new InvalidConfigurationException(
                        word(time), "must be a range from an earlier time to a later one, between 1970 and 9999");
            }
        }

        @Override
        public String toString() {
            return word(time) + "=" + (from == null ? "" : from) + ".." + (to == null ? "" : to);
        }
    }

    public Filter {
        states = states.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(states));
        if (states.contains(State.UNKNOWN)) {
            throw new InvalidConfigurationException(
                    "states",
                    "must not contain UNKNOWN: docs/databases.md has the query for rows that other software has changed");
        }
        conditions = List.copyOf(conditions);
    }

    private static String word(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Returns a filter that selects every message, delivered ones included. */
    public static Filter all() {
        return new Filter(Set.of(), List.of());
    }

    /** Returns a filter that selects the messages in these states. */
    public static Filter in(State... states) {
        return all().states(Arrays.asList(states));
    }

    /** Returns a filter that selects dead letters. */
    public static Filter dead() {
        return in(State.DEAD);
    }

    /** Returns a filter that selects delivered messages, while they are in the archive. */
    public static Filter delivered() {
        return in(State.DELIVERED);
    }

    public Filter states(Collection<State> others) {
        return new Filter(Set.copyOf(others), conditions);
    }

    public Filter ids(Collection<MessageId> ids) {
        return with(new Ids(List.copyOf(ids)), Ids.class::isInstance);
    }

    public Filter topic(TopicName topic) {
        return with(new InTopic(topic), InTopic.class::isInstance);
    }

    /** Calls {@link #topic(TopicName)} for a topic given as text. */
    public Filter topic(String topic) {
        return topic(TopicName.of(topic));
    }

    public Filter namespace(String namespace) {
        return equal(Attribute.NAMESPACE, namespace);
    }

    public Filter tenant(String tenant) {
        return equal(Attribute.TENANT, tenant);
    }

    public Filter type(String type) {
        return equal(Attribute.TYPE, type);
    }

    public Filter orderingKey(String key) {
        return equal(Attribute.ORDERING_KEY, key);
    }

    public Filter idempotencyKey(String key) {
        return equal(Attribute.IDEMPOTENCY_KEY, key);
    }

    public Filter fingerprint(String fingerprint) {
        return equal(Attribute.FINGERPRINT, fingerprint);
    }

    public Filter correlationId(String correlationId) {
        return equal(Attribute.CORRELATION_ID, correlationId);
    }

    public Filter errorContains(String text) {
        return with(new ErrorContains(text), ErrorContains.class::isInstance);
    }

    public Filter attemptsAtLeast(int attempts) {
        return with(new AttemptsAtLeast(attempts), AttemptsAtLeast.class::isInstance);
    }

    public Filter created(@Nullable Instant from, @Nullable Instant to) {
        return between(Time.CREATED, from, to);
    }

    public Filter due(@Nullable Instant from, @Nullable Instant to) {
        return between(Time.DUE, from, to);
    }

    public Filter delivered(@Nullable Instant from, @Nullable Instant to) {
        return between(Time.DELIVERED, from, to);
    }

    private Filter equal(Attribute attribute, String value) {
        return with(
                new Equal(attribute, value), other -> other instanceof Equal equal && equal.attribute() == attribute);
    }

    private Filter between(Time time, @Nullable Instant from, @Nullable Instant to) {
        return with(new Between(time, from, to), other -> other instanceof Between between && between.time() == time);
    }

    private Filter with(Condition condition, Predicate<Condition> replaced) {
        List<Condition> others = new ArrayList<>(conditions);
        others.removeIf(replaced);
        others.add(condition);
        return new Filter(states, others);
    }

    /** Returns the filter as a JSON object, which {@link #ofJson} reads. */
    public String toJson() {
        return FilterJson.write(this);
    }

    /**
     * Reads a filter that {@link #toJson} has written.
     *
     * @throws IllegalArgumentException when the text is not such a filter, or one of a later version
     */
    public static Filter ofJson(String json) {
        return FilterJson.read(json);
    }

    /** Returns the filter as the audit shows it. */
    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        if (!states.isEmpty()) {
            Set<String> words = new TreeSet<>();
            states.forEach(state -> words.add(word(state)));
            parts.add("state=" + String.join(",", words));
        }
        conditions.forEach(condition -> parts.add(condition.toString()));
        return String.join(" ", parts);
    }
}
