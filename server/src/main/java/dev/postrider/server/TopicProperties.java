package dev.postrider.server;

import dev.postrider.error.InvalidConfigurationException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Parses the names of topic properties. Topic names may have dots, and headers may have the name of a property: {@code
 * topic.orders.header.secret} is a header of the topic {@code orders}, but a secret of {@code orders.header} if only
 * that topic has a URL. Immutable.
 */
final class TopicProperties {

    static final String PREFIX = "topic.";

    private static final String HEADER = ".header.";
    private static final String URL = "url";

    /** The topics that have a URL. */
    private final Set<String> declared = new HashSet<>();

    /** The parsed name of a property: the topic, and one of its properties or headers. */
    record Part(String topic, boolean isHeader, String name) {}

    TopicProperties(Set<String> properties) {
        for (String property : properties) {
            property(property).filter(part -> part.name().equals(URL)).ifPresent(part -> declared.add(part.topic()));
        }
    }

    /** Empty if the name is not a topic property. */
    Optional<Part> read(String property) {
        Optional<Part> plain = property(property);
        Optional<Part> header = header(property);
        if (plain.isEmpty() || header.isEmpty()) {
            return plain.isPresent() ? plain : header;
        }
        if (!declared.contains(header.get().topic())) {
            return declared.contains(plain.get().topic()) ? plain : header;
        }
        if (declared.contains(plain.get().topic()) && header.get().name().contains(".")) {
            throw new InvalidConfigurationException(
                    property,
                    "can be a header of the topic " + header.get().topic() + " or a property of the topic "
                            + plain.get().topic() + ": configure one of these topics in another file");
        }
        return header;
    }

    /** Searches for the property from the right. */
    private static Optional<Part> property(String property) {
        for (String name : TopicSettings.GROUP.names()) {
            int end = property.length() - name.length() - 1;
            if (property.startsWith(PREFIX) && property.endsWith("." + name) && end > PREFIX.length()) {
                return Optional.of(new Part(property.substring(PREFIX.length(), end), false, name));
            }
        }
        return Optional.empty();
    }

    /** Searches from the right as well. A topic that has a URL comes before one that has none. */
    private Optional<Part> header(String property) {
        Optional<Part> found = Optional.empty();
        int header = property.startsWith(PREFIX) ? property.lastIndexOf(HEADER) : -1;
        while (header > PREFIX.length()) {
            Part part = new Part(
                    property.substring(PREFIX.length(), header), true, property.substring(header + HEADER.length()));
            if (declared.contains(part.topic())) {
                return Optional.of(part);
            }
            found = found.or(() -> Optional.of(part));
            header = property.lastIndexOf(HEADER, header - 1);
        }
        return found;
    }
}
