package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.HandOver.Reservation;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.Lease;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers messages that were written on this node, without a claim. They are inserted with a lease of this node, and
 * their delivery starts after the commit. Room for them is reserved before they are inserted. The thread that commits
 * only queues them. One thread calls {@link #runOnce}, which delivers them. Otherwise thread-safe.
 */
final class LocalHandOver {

    private static final Logger log = LoggerFactory.getLogger(LocalHandOver.class);

    private static final Duration IDLE = Duration.ofMinutes(1);

    private final Map<TopicName, Topic> topics = new HashMap<>();
    private final DispatchOptions options;
    private final MessageStore store;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Platform platform;
    private final EventListener events;
    private final Set<HandOverReservation> openReservations = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<List<InFlightMessage>> committed = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Claim> committedLate = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean releasing = new AtomicBoolean();
    private volatile Runnable wake = () -> {};
    private volatile boolean closed;

    LocalHandOver(
            MessageStore store,
            NodeSettings settings,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            Platform platform) {
        this.store = store;
        this.options = settings.options();
        this.events = settings.events();
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.platform = platform;
        if (options.handOver()) {
            settings.topics().stream()
                    .filter(topic -> !topic.isOrdered())
                    .forEach(topic -> this.topics.put(topic.name(), topic));
        }
    }

    /** Sets the wake-up of the loop that runs the hand-over. Committed messages wake it. */
    void onWork(Runnable wake) {
        this.wake = wake;
    }

    /** Reserves slots for the messages that a claim of this node could return, as long as some are free. */
    Reservation reserve(List<Message> messages) {
        if (closed) {
            return Reservation.NONE; // the message would be released at once
        }
        Map<MessageId, InFlight.Reserved> reserved = new LinkedHashMap<>();
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(platform);
        for (Message message : messages) {
            Topic topic = topics.get(message.topic());
            if (topic != null && isOurs(topic, message) && !reserved.containsKey(message.id())) {
                InFlight.Reserved slot =
                        inFlight.reserveForHandOver(topic, message.payload().size());
                if (slot != null) {
                    reserved.put(message.id(), slot);
                }
            }
        }
        if (reserved.isEmpty()) {
            return Reservation.NONE;
        }
        HandOverReservation reservation = new HandOverReservation(reserved, asked);
        openReservations.add(reservation);
        return reservation;
    }

    /** Whether the message is due now and this node delivers its tenant. */
    private static boolean isOurs(Topic topic, Message message) {
        String tenant = message.tenant();
        return message.deliverAt() == null
                && (topic.tenants().isEmpty()
                        || (tenant != null && topic.tenants().contains(tenant)));
    }

    /** Delivers the committed messages. */
    Duration runOnce() {
        for (List<InFlightMessage> claimed = committed.poll(); claimed != null; claimed = committed.poll()) {
            announce(claimed);
            claimed.forEach(pipeline::deliver);
        }
        return IDLE;
    }

    private void announce(List<InFlightMessage> claimed) {
        Map<TopicName, Integer> counts = new HashMap<>();
        claimed.forEach(each -> counts.merge(each.topic().name(), 1, Integer::sum));
        counts.forEach((topic, count) -> events.on(new Event.HandedOver(topic, count)));
    }

    /**
     * Frees the slots of transactions that have not committed when their lease is over, so that other messages can use
     * them.
     */
    void freeExpired() {
        for (HandOverReservation reservation : openReservations) {
            if (reservation.asked.age(platform).compareTo(options.lease()) >= 0) {
                reservation.end();
            }
        }
    }

    /** Ends the hand-over. A message whose slot was reserved before, and that is committed later, is released. */
    synchronized void close() {
        closed = true;
    }

    /**
     * Puts the messages in flight and returns true, or returns false if closed. A stop waits for messages in flight.
     */
    private synchronized boolean putInFlight(List<InFlightMessage> claimed) {
        if (!closed) {
            claimed.forEach(inFlight::add);
        }
        return !closed;
    }

    /**
     * Releases claims on another thread. The thread that committed still has a connection and must not wait for a
     * second one, and the outcome writer may have ended. If the release fails, the leases expire.
     */
    private void release(List<Claim> claims) {
        committedLate.addAll(claims);
        try {
            if (releasing.compareAndSet(false, true)) {
                platform.thread(this, this::releaseLate, "release").start();
            }
        } catch (Throwable e) {
            releasing.set(false);
            log.warn(
                    "{} messages could not be released after this node stopped; their leases will expire",
                    claims.size(),
                    e);
        }
    }

    private void releaseLate() {
        do {
            List<Claim> claims = new ArrayList<>();
            for (Claim claim = committedLate.poll(); claim != null; claim = committedLate.poll()) {
                claims.add(claim);
            }
            try {
                store.settle(claims.stream().map(Outcome.Released::new).toList());
            } catch (PostriderException e) {
                log.warn(
                        "{} messages could not be released after this node stopped; their leases will expire",
                        claims.size(),
                        e);
            } finally {
                releasing.set(false);
            }
        } while (!committedLate.isEmpty() && releasing.compareAndSet(false, true));
    }

    /** The reserved messages of one transaction. */
    private final class HandOverReservation implements Reservation {

        private final Map<MessageId, InFlight.Reserved> reserved;
        private final LeaseValidity.Stamp asked;
        private final Lease lease = new Lease(platform.id(), options.worker(), options.lease());

        HandOverReservation(Map<MessageId, InFlight.Reserved> reserved, LeaseValidity.Stamp asked) {
            this.reserved = reserved;
            this.asked = asked;
        }

        @Override
        public Set<MessageId> messages() {
            return Set.copyOf(reserved.keySet());
        }

        @Override
        public Lease lease() {
            return lease;
        }

        /** If the commit took too long, the pipeline releases the messages instead of delivering them. */
        @Override
        public void committed(List<Claim> claims) {
            List<InFlightMessage> claimed = new ArrayList<>(claims.size());
            for (Claim claim : claims) {
                InFlight.@Nullable Reserved slot = reserved.get(claim.message().id());
                if (slot != null) {
                    claimed.add(InFlightMessage.handedOver(slot.topic(), claim, asked));
                }
            }
            boolean accepted = claimed.isEmpty() || putInFlight(claimed);
            end();
            if (!accepted) {
                release(claims);
            } else if (!claimed.isEmpty()) {
                committed.add(claimed);
                wake.run();
            }
        }

        @Override
        public void abandoned() {
            end();
        }

        /** Frees the slots. Only the first call has an effect. */
        private void end() {
            if (openReservations.remove(this)) {
                reserved.values().forEach(inFlight::giveBack);
            }
        }
    }
}
