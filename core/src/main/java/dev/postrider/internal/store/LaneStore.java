package dev.postrider.internal.store;

import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Stores the lanes of ordered topics and their messages. A node acquires lanes under a lease, reads their messages
 * and writes the outcomes. Every change of a message carries the token of the lane, so a node that was replaced
 * changes nothing. For the lanes acquired through it, the store keeps in memory which messages were read and have no
 * outcome yet. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreUnavailableException} when the database cannot be reached. It
 * is then unknown whether they took effect, and each method may be called again.
 */
public interface LaneStore {

    /**
     * A node, as the other nodes see it.
     *
     * @param instance a new id for each start
     * @param worker the name of the node
     * @param topics the topics that the node delivers, including unordered ones; they are announced in this order
     */
    record Node(UUID instance, String worker, Set<TopicName> topics) {

        public Node {
            topics = Collections.unmodifiableSet(new LinkedHashSet<>(topics));
        }

        /** Returns the node while it stops: it is alive, and delivers no topic. */
        public Node withoutTopics() {
            return new Node(instance, worker, Set.of());
        }
    }

    /**
     * Announces that the node is alive for the given time. Returns the number of live nodes for each of its topics,
     * including this node.
     */
    Map<TopicName, Integer> announce(Node node, Duration lease);

    /** Reads the clock of the database. */
    Instant databaseTime();

    /** Announces that the node has stopped. */
    void leave(Node node);

    /**
     * Acquires lanes. In the lanes of a lost node, a crash is counted for the messages that may have been in flight
     * there.
     */
    List<Lane> acquire(Lane.Request request);

    /**
     * Renews the leases of lanes. A lane whose row another session has locked is skipped, and does not affect the
     * other lanes.
     */
    Lane.Renewal renew(Collection<Lane> lanes, Duration lease);

    /**
     * Releases lanes. Their next owner delivers the messages that were read and have no outcome. A lane that another
     * session has locked is not waited for; a later {@link #announce}, {@link #acquire} or {@link #leave} releases it.
     */
    void release(Collection<Lane> lanes);

    /**
     * Reads the next messages of lanes of one topic, in order. Messages that were read before and have no outcome are
     * skipped. The list is empty while the topic is paused.
     *
     * @param room the largest number of messages to read, for each lane
     * @param maxBytes the read ends after the message whose payload reaches this sum
     */
    List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes);

    /**
     * Reads the messages of these lanes whose time has come: scheduled messages, and the heads of blocked keys with
     * the messages behind them.
     */
    List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes);

    /**
     * Compares the messages that this store has recorded as read and without an outcome with the messages in flight
     * on the node. A recorded message that is not in flight is read again. Must be called by the reading thread,
     * between two reads, with the messages that were in flight before the call.
     *
     * @param inFlight the numbers of the messages in flight, for each lane to compare
     * @return the number of recorded messages that were not in flight; any number but 0 is a defect
     */
    int reconcile(Map<Lane, Set<Long>> inFlight);

    /**
     * Returns how long until each topic has a message to read in these lanes. Paused topics and topics without
     * waiting messages are absent. From time to time a topic is due for a scan although no message is known.
     */
    Map<TopicName, Duration> nextDue(Collection<Lane> lanes);

    /**
     * Returns whether the topic was paused at the last read or the last {@link #nextDue}. Does not access the
     * database.
     */
    boolean isPaused(TopicName topic);

    /**
     * Writes outcomes. The results have the order of the outcomes. The outcomes of a lost lane are lost, and do not
     * affect the others. A locked row is not waited for: its result is {@link Settlement.Locked}.
     * {@link Outcome.Released} writes nothing, and lets the message be read again. After an {@link Outcome.Handled},
     * {@link Settlement.Settled#keyBlocked} takes the other written outcomes into account.
     */
    List<Settlement> settle(List<? extends LaneOutcome> outcomes);

    /**
     * Records in the lane that its owner delivers this suspect in isolation. If the owner is lost, the crash is
     * counted for this message. Does not wait for a lane that another session has locked.
     *
     * @return false if nothing was recorded: the lane is locked, or this node no longer owns it
     */
    boolean startIsolated(Claim claim);

    /**
     * Removes the record of {@link #startIsolated}, if there is one, after the outcome of the isolated delivery is
     * decided. Does not wait for a lane that another session has locked.
     *
     * @return false if nothing was changed because the lane is locked: call it again later
     */
    boolean endIsolated(Claim claim);
}
