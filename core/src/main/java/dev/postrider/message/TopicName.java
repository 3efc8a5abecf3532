package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.regex.Pattern;

/**
 * The name of a topic within a namespace. The text form is {@code topic} in the namespace
 * {@value #DEFAULT_NAMESPACE}, and {@code namespace/topic} in all others. Names are case-sensitive on every database.
 * Immutable. An invalid name throws {@link InvalidMessageException}.
 *
 * @param namespace 1 to 100 letters, digits, dots, dashes or underscores, starting with a letter or digit
 * @param topic the same kind of name
 */
public record TopicName(String namespace, String topic) implements Comparable<TopicName> {

    /** The namespace of a name without a slash. */
    public static final String DEFAULT_NAMESPACE = "default";

    /** The namespace of the topics of the inbox. Only the inbox writes to them. */
    public static final String INBOX_NAMESPACE = "inbox";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    public TopicName {
        check("namespace", namespace);
        check("topic", topic);
    }

    /**
     * Reads {@code topic} or {@code namespace/topic}.
     *
     * @throws InvalidMessageException when the name is null or not valid
     */
    public static TopicName of(String name) {
        if (name == null) {
            throw new InvalidMessageException("topic", "is missing: use the name of a declared topic");
        }
        int slash = name.indexOf('/');
        return slash < 0
                ? new TopicName(DEFAULT_NAMESPACE, name)
                : new TopicName(name.substring(0, slash), name.substring(slash + 1));
    }

    private static void check(String field, String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new InvalidMessageException(
                    field,
                    "must be 1 to 100 letters, digits, dots, dashes or underscores, beginning with a letter or digit, but is "
                            + Text.excerpt(name));
        }
    }

    /** Returns whether this is a topic of the inbox. */
    public boolean isOfInbox() {
        return namespace.equals(INBOX_NAMESPACE);
    }

    @Override
    public int compareTo(TopicName other) {
        int byNamespace = namespace.compareTo(other.namespace);
        return byNamespace != 0 ? byNamespace : topic.compareTo(other.topic);
    }

    @Override
    public String toString() {
        return namespace.equals(DEFAULT_NAMESPACE) ? topic : namespace + "/" + topic;
    }
}
