package dev.postrider.jdbc;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.message.TopicName;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Settlement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes outcomes together, or topic by topic if they waited too long for a lock together: a lock of another session on a gap of an index
 * or on the archive must not stop the outcomes of every topic. The outcomes of a topic that waits again are answered {@code Locked}.
 */
final class OutcomesByTopic {

    private static final Logger log = LoggerFactory.getLogger(OutcomesByTopic.class);

    private OutcomesByTopic() {}

    /**
     * @param write writes outcomes, and returns the results in their order; a repeated write has no further effect
     * @param locked called for each outcome that is answered {@code Locked} because its topic waited
     */
    static <O extends LaneOutcome> List<Settlement> settle(
            List<? extends O> outcomes, Function<List<? extends O>, List<Settlement>> write, Consumer<O> locked) {
        try {
            return write.apply(outcomes);
        } catch (TransactionConflictException e) {
            refuseOthers(e);
        }
        Map<TopicName, List<O>> byTopic = new LinkedHashMap<>();
        outcomes.forEach(outcome -> byTopic.computeIfAbsent(topic(outcome), name -> new ArrayList<>())
                .add(outcome));
        Map<TopicName, Iterator<Settlement>> settled = new HashMap<>();
        byTopic.forEach((topic, ofTopic) ->
                settled.put(topic, ofTopic(topic, ofTopic, write, locked).iterator()));
        return outcomes.stream()
                .map(outcome ->
                        Objects.requireNonNull(settled.get(topic(outcome))).next())
                .toList();
    }

    private static <O extends LaneOutcome> List<Settlement> ofTopic(
            TopicName topic,
            List<O> outcomes,
            Function<List<? extends O>, List<Settlement>> write,
            Consumer<O> locked) {
        try {
            return write.apply(outcomes);
        } catch (TransactionConflictException e) {
            refuseOthers(e);
            log.warn("{} outcomes of topic {} wait for a lock of another session", outcomes.size(), topic, e);
            outcomes.forEach(locked);
            List<Settlement> settlements = new ArrayList<>(outcomes.size());
            outcomes.forEach(outcome -> settlements.add(new Settlement.Locked(outcome.claim())));
            return settlements;
        }
    }

    private static void refuseOthers(TransactionConflictException e) {
        if (!SqlErrors.isCausedByLockTimeout(e)) {
            throw e;
        }
    }

    private static TopicName topic(LaneOutcome outcome) {
        return outcome.claim().message().topic();
    }
}
