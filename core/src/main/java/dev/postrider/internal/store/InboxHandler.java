package dev.postrider.internal.store;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import java.util.regex.Pattern;

/**
 * A registered handler of a consumer and the message type that it handles. It is stored in the database, so that a
 * received message is stored for all handlers of its type, including those of other nodes. Immutable. An invalid name
 * or type throws {@link InvalidConfigurationException}.
 *
 * @param consumer the name of the consumer
 * @param name the name of the handler. It must not change, because waiting messages are stored under it
 * @param type the message type, or {@value #ANY_TYPE} for all types
 */
public record InboxHandler(String consumer, String name, String type) {

    /** The type that matches all messages. */
    public static final String ANY_TYPE = "*";

    /** Two names and a dot form the name of a topic. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,48}");

    private static final int LONGEST_TYPE = 255;

    public InboxHandler {
        check("inbox", consumer);
        check("inbox." + consumer + ".handler", name);
        if (type == null || type.isBlank() || type.length() > LONGEST_TYPE) {
            throw new InvalidConfigurationException(
                    "inbox." + consumer + "." + name + ".type",
                    "must be a message type of 1 to 255 characters, or '" + ANY_TYPE + "' for all");
        }
    }

    /** Returns the topic in which the messages of this handler wait. */
    public TopicName topic() {
        return topic(consumer, name);
    }

    /** Returns the topic in which the messages of a handler wait. */
    public static TopicName topic(String consumer, String name) {
        check("inbox", consumer);
        check("inbox." + consumer + ".handler", name);
        return new TopicName(TopicName.INBOX_NAMESPACE, consumer + "." + name);
    }

    /** Returns the topic that keeps messages without a handler. */
    public static TopicName consumerTopic(String consumer) {
        check("inbox", consumer);
        return new TopicName(TopicName.INBOX_NAMESPACE, consumer);
    }

    /** Returns whether this handler handles messages of this type. */
    public boolean takes(String messageType) {
        return type.equals(ANY_TYPE) || type.equals(messageType);
    }

    private static void check(String property, String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new InvalidConfigurationException(
                    property,
                    "must have a name of 1 to 49 letters, digits, dashes or underscores, starting with a letter or digit");
        }
    }
}
