package dev.postrider.store;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Ordered topics: lanes are leased to nodes, and whoever holds a lane reads what is in it and writes what came of that. Every
 * change of a message carries the lane's token, so a node that was given up for lost changes nothing. Remembers, for the lanes
 * taken through it, what was read and has no outcome yet. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreUnavailableException} when the database cannot be reached; it is then
 * unknown whether they took effect, and each may be called again.
 */
public interface LaneStore {

    /**
     * A node, as others see it.
     *
     * @param instance made anew by each start
     * @param topics the topics that it delivers, unordered ones among them
     */
    record Node(UUID instance, String worker, Set<TopicName> topics) {}

    /** Says that the node is alive for so long; answers how many are, for each of its topics, itself included. */
    Map<TopicName, Integer> announce(Node node, Duration lease);

    /** Says that the node is gone. */
    void leave(Node node);

    /** Takes lanes. Those of a lost node come with a suspicion against the messages that it may have had in its hands. */
    List<Lane> acquire(Lane.Request request);

    /** Prolongs the leases. A lane whose row another session has locked is left out, and costs the others nothing. */
    Lane.Renewal renew(Collection<Lane> lanes, Duration lease);

    /** Gives lanes back. Messages that were read from them and have no outcome are then the next holder's. */
    void release(Collection<Lane> lanes);

    /**
     * Reads what is next in lanes of one topic, in order, leaving out what was read before and has no outcome yet. Nothing while the
     * topic is paused.
     *
     * @param room how many messages to take from each lane at most
     * @param maxBytes stop after the message whose payload reaches this sum
     */
    List<LaneClaim> read(TopicName topic, Map<Lane, Integer> room, long maxBytes);

    /** Reads what has waited for its time in these lanes: beside the order, or at the front of a held key, with what is behind it. */
    List<LaneClaim> readTimed(TopicName topic, Collection<Lane> lanes, int limit, long maxBytes);

    /**
     * Compares what this store has noted as read, and without an outcome, with what is in flight on the node. A message that is not in
     * flight is read again. Called by the thread that reads, between two reads, with what was in flight before the call.
     *
     * @param inFlight the numbers of the messages that are in flight, for each lane to compare
     * @return how many messages were noted and not in flight; anything but 0 is a fault
     */
    int reconcile(Map<Lane, Set<Long>> inFlight);

    /**
     * How long until each topic has something to read in these lanes; absent for paused topics and those with nothing waiting. Now and
     * then a look is due although nothing is known to be there.
     */
    Map<TopicName, Duration> nextDue(Collection<Lane> lanes);

    /**
     * Writes outcomes. The answers come in the order of the outcomes; those of a lane that was lost are lost, and spoil no other. A row
     * that another session has locked is not waited for: the answer is {@link Settlement.Locked}.
     * {@link Outcome.Released} only forgets that the message was read.
     */
    List<Settlement> settle(List<? extends Outcome> outcomes);

    /**
     * Notes in the lane that this message, and no other, is being delivered by its holder: if the holder is lost, it was this one.
     *
     * @return whether the lane is still held
     */
    boolean deliverAlone(Claim claim);

    /** The message that was delivered alone has its outcome. */
    void endAlone(Claim claim);
}
