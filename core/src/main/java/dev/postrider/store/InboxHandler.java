package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.message.TopicName;
import java.util.regex.Pattern;

/**
 * Who handles what of the messages that a consumer receives; kept in the database, so that a receiver gives each message to all
 * handlers of its type, also to those of other nodes. Immutable.
 *
 * @param consumer whose messages
 * @param name the handler's name, the same for ever: its messages wait under it
 * @param type of which messages, {@value #ANY_TYPE} for all
 */
public record InboxHandler(String consumer, String name, String type) {

    public static final String ANY_TYPE = "*";

    /** Two of them and a dot make a topic. */
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

    /** Where the messages of this handler wait. */
    public TopicName topic() {
        return topic(consumer, name);
    }

    public static TopicName topic(String consumer, String name) {
        check("inbox", consumer);
        check("inbox." + consumer + ".handler", name);
        return new TopicName(TopicName.INBOX_NAMESPACE, consumer + "." + name);
    }

    /** Where messages are kept that a consumer received and has no handler for. */
    public static TopicName consumerTopic(String consumer) {
        check("inbox", consumer);
        return new TopicName(TopicName.INBOX_NAMESPACE, consumer);
    }

    public boolean takes(String messageType) {
        return type.equals(ANY_TYPE) || type.equals(messageType);
    }

    private static void check(String property, String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw new InvalidConfigurationException(
                    property,
                    "must be named by 1 to 49 letters, digits, dashes or underscores, beginning with a letter or digit");
        }
    }
}
