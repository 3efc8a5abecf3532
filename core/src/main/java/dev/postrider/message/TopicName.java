package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.util.regex.Pattern;

/**
 * Where a message goes: a topic within a namespace. Written {@code topic}, or {@code namespace/topic} outside the namespace
 * {@value #DEFAULT_NAMESPACE}. Names are case-sensitive on every database. Immutable.
 */
public record TopicName(String namespace, String topic) implements Comparable<TopicName> {

    public static final String DEFAULT_NAMESPACE = "default";

    /** The namespace of the inbox's own topics, to which only the inbox writes. */
    public static final String INBOX_NAMESPACE = "inbox";

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}");

    public TopicName {
        check("namespace", namespace);
        check("topic", topic);
    }

    /** Reads {@code topic} or {@code namespace/topic}. */
    public static TopicName of(String name) {
        if (name == null) {
            throw new InvalidMessageException("topic", "is missing: name one that was declared");
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

    /** Whether it is a topic of the inbox's own. */
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
