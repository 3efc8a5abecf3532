package dev.postrider.internal.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.message.TopicName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EventListenersTest {

    private static final Event EVENT = new Event.Fetched(TopicName.of("orders"), 1);

    @Test
    void listenerThatThrowsDisturbsNoOther() {
        List<Event> heard = new ArrayList<>();
        EventListeners listeners = new EventListeners(List.of(
                event -> {
                    throw new IllegalStateException("first");
                },
                heard::add,
                event -> {
                    throw new NoClassDefFoundError("third");
                },
                heard::add));

        listeners.on(EVENT);

        assertThat(heard).containsExactly(EVENT, EVENT);
    }

    @Test
    void listenersHearInTheOrderTheyWereAdded() {
        List<String> heard = new ArrayList<>();

        new EventListeners(List.of(event -> heard.add("a"), event -> heard.add("b"))).on(EVENT);

        assertThat(heard).containsExactly("a", "b");
    }
}
