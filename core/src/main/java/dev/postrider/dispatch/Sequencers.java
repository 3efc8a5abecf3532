package dev.postrider.dispatch;

import dev.postrider.internal.store.Lane;
import dev.postrider.message.TopicName;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The sequencers of the ordered topics of this node. All of them are added before the first thread starts. */
final class Sequencers implements Iterable<Sequencer> {

    private final Map<TopicName, Sequencer> byTopic = new LinkedHashMap<>();

    Sequencers(Sequencer... sequencers) {
        List.of(sequencers).forEach(this::add);
    }

    void add(Sequencer sequencer) {
        byTopic.put(sequencer.topic().name(), sequencer);
    }

    Sequencer of(TopicName topic) {
        return Objects.requireNonNull(byTopic.get(topic));
    }

    boolean isEmpty() {
        return byTopic.isEmpty();
    }

    /** The lanes of all topics that this node owns. */
    List<Lane> lanes() {
        List<Lane> lanes = new ArrayList<>();
        forEach(sequencer -> lanes.addAll(sequencer.lanes()));
        return lanes;
    }

    /** Sends the messages of every topic that wait for a slot. */
    void send() {
        forEach(Sequencer::send);
    }

    @Override
    public Iterator<Sequencer> iterator() {
        return List.copyOf(byTopic.values()).iterator();
    }
}
