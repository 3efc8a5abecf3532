package dev.postrider.admin;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list of messages. Immutable. A page can have fewer messages than its limit, or none, before the end of
 * the list: the end is where {@code next} is null.
 *
 * @param next the cursor of the next page; null at the end of the list
 * @param cut whether the page ended because {@link Filter#EXAMINED} messages were examined
 */
public record MessagePage(
        List<MessageSummary> messages, @Nullable String next, boolean cut) {

    public MessagePage {
        messages = List.copyOf(messages);
    }
}
