package dev.postrider.postgresql;

import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.message.TopicName;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The payload of a notification: {@code ring:<node>:<topics>} or {@code test:<node>}. The topics are names separated by
 * commas, or a star. Every user of the database can send any payload on the channel. A payload of another form
 * therefore counts as a ring for any topic, which costs one scan.
 */
final class NotificationPayload {

    /** A payload may have 8,000 bytes. A ring for more topics than fit here becomes a ring for any topic. */
    private static final int LONGEST = 2000;

    private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}";
    private static final Pattern TOPIC = Pattern.compile(NAME + "(/" + NAME + ")?");

    /** The topics are split in code: a pattern that repeats a group needs as much stack as there are topics. */
    private static final Pattern RING = Pattern.compile("ring:[0-9a-f]{8}:([A-Za-z0-9._/,-]+)");

    private NotificationPayload() {}

    static String ring(String node, Ring ring) {
        String topics = ring.topics().stream().sorted().map(TopicName::toString).collect(Collectors.joining(","));
        return "ring:" + node + ":" + (ring.isAnywhere() || topics.length() > LONGEST ? "*" : topics);
    }

    static String test(String node) {
        return "test:" + node;
    }

    /** Whether this node sent the payload. */
    static boolean isFrom(String node, String note) {
        return note.startsWith("ring:" + node + ":") || note.equals(test(node));
    }

    static boolean isTest(String note) {
        return note.startsWith("test:");
    }

    static Ring read(String note) {
        var ring = RING.matcher(note);
        if (note.length() > LONGEST + 20 || !ring.matches()) {
            return Ring.ANYWHERE;
        }
        String[] topics = ring.group(1).split(",", -1);
        return Arrays.stream(topics).allMatch(topic -> TOPIC.matcher(topic).matches())
                ? new Ring(Arrays.stream(topics).map(TopicName::of).collect(Collectors.toSet()))
                : Ring.ANYWHERE;
    }
}
