package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver.Reservation;
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
 * Messages written on this node that are inserted under a lease of its own and taken over when they are committed, without a
 * claim. Room for them is taken before they are written. The thread that commits only puts them down here; {@link #runOnce}, which
 * belongs to one thread, delivers them. Thread-safe otherwise.
 */
final class BornClaims {

    private static final Logger log = LoggerFactory.getLogger(BornClaims.class);

    private static final Duration IDLE = Duration.ofMinutes(1);

    private final Map<TopicName, Topic> topics = new HashMap<>();
    private final DispatchOptions options;
    private final MessageStore store;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Surroundings surroundings;
    private final EventListener events;
    private final Set<Birth> open = ConcurrentHashMap.newKeySet();
    private final ConcurrentLinkedQueue<List<Held>> arrived = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Claim> committedLate = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean releasing = new AtomicBoolean();
    private volatile Runnable wake = () -> {};
    private volatile boolean closed;

    BornClaims(
            MessageStore store,
            DispatchOptions options,
            List<Topic> topics,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            Surroundings surroundings,
            EventListener events) {
        this.store = store;
        this.options = options;
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.surroundings = surroundings;
        this.events = events;
        if (options.handOver()) {
            topics.stream().filter(topic -> !topic.isOrdered()).forEach(topic -> this.topics.put(topic.name(), topic));
        }
    }

    void onWork(Runnable wake) {
        this.wake = wake;
    }

    /** Takes room for those that an ordinary claim of this node would get, as long as there is some. */
    Reservation reserve(List<Message> messages) {
        if (closed) {
            return Reservation.NONE; // it would be written under a lease only to be given back
        }
        Map<MessageId, InFlight.Room> rooms = new LinkedHashMap<>();
        Tenure.Stamp asked = Tenure.Stamp.now(surroundings);
        for (Message message : messages) {
            Topic topic = topics.get(message.topic());
            if (topic != null && isOurs(topic, message) && !rooms.containsKey(message.id())) {
                InFlight.Room room =
                        inFlight.takeForBirth(topic, message.payload().size());
                if (room != null) {
                    rooms.put(message.id(), room);
                }
            }
        }
        if (rooms.isEmpty()) {
            return Reservation.NONE;
        }
        Birth birth = new Birth(rooms, asked);
        open.add(birth);
        return birth;
    }

    /** Due now, and of a tenant that this node delivers. */
    private static boolean isOurs(Topic topic, Message message) {
        String tenant = message.tenant();
        return message.deliverAt() == null
                && (topic.tenants().isEmpty()
                        || (tenant != null && topic.tenants().contains(tenant)));
    }

    /** Delivers what was committed. */
    Duration runOnce() {
        for (List<Held> held = arrived.poll(); held != null; held = arrived.poll()) {
            announce(held);
            held.forEach(pipeline::deliver);
        }
        return IDLE;
    }

    private void announce(List<Held> held) {
        Map<TopicName, Integer> counts = new HashMap<>();
        held.forEach(each -> counts.merge(each.topic().name(), 1, Integer::sum));
        counts.forEach((topic, count) -> events.on(new Event.HandedOver(topic, count)));
    }

    /** Whoever has not committed when the lease is over must not keep others waiting. */
    void freeExpired() {
        for (Birth birth : open) {
            if (birth.asked.age(surroundings).compareTo(options.lease()) >= 0) {
                birth.end();
            }
        }
    }

    /** From now on nothing is taken over; what was reserved and is committed later is given back. */
    synchronized void close() {
        closed = true;
    }

    /** Unless closed, the messages are in flight after this, and their outcomes are waited for. */
    private synchronized boolean hold(List<Held> held) {
        if (!closed) {
            held.forEach(inFlight::add);
        }
        return !closed;
    }

    /**
     * On a thread of its own: whoever committed still has a connection, must not wait for a second one, and has nothing to do with this;
     * and the writer of outcomes may have ended. Without success the lease runs out.
     */
    private void release(List<Claim> claims) {
        committedLate.addAll(claims);
        try {
            if (releasing.compareAndSet(false, true)) {
                surroundings.thread(this, this::releaseLate, "release").start();
            }
        } catch (Throwable e) {
            releasing.set(false);
            log.warn(
                    "{} messages could not be given back after this node stopped; their lease will run out",
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
                        "{} messages could not be given back after this node stopped; their lease will run out",
                        claims.size(),
                        e);
            } finally {
                releasing.set(false);
            }
        } while (!committedLate.isEmpty() && releasing.compareAndSet(false, true));
    }

    /** The messages of one transaction. */
    private final class Birth implements Reservation {

        private final Map<MessageId, InFlight.Room> rooms;
        private final Tenure.Stamp asked;
        private final Lease lease = new Lease(surroundings.id(), options.worker(), options.lease());

        Birth(Map<MessageId, InFlight.Room> rooms, Tenure.Stamp asked) {
            this.rooms = rooms;
            this.asked = asked;
        }

        @Override
        public Set<MessageId> messages() {
            return Set.copyOf(rooms.keySet());
        }

        @Override
        public Lease lease() {
            return lease;
        }

        /** What took too long, by the pipeline's own rule, is released there instead of being delivered. */
        @Override
        public void committed(List<Claim> claims) {
            List<Held> held = new ArrayList<>(claims.size());
            for (Claim claim : claims) {
                InFlight.@Nullable Room room = rooms.get(claim.message().id());
                if (room != null) {
                    held.add(Held.born(room.topic(), claim, asked));
                }
            }
            boolean isHeld = held.isEmpty() || hold(held);
            end();
            if (!isHeld) {
                release(claims);
            } else if (!held.isEmpty()) {
                arrived.add(held);
                wake.run();
            }
        }

        @Override
        public void abandoned() {
            end();
        }

        /** Once, whoever comes first. */
        private void end() {
            if (open.remove(this)) {
                rooms.values().forEach(inFlight::giveBack);
            }
        }
    }
}
