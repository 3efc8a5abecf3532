package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.event.EventListener;
import dev.postrider.event.EventListeners;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.Stores;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the messages of its topics: claims them, hands them to their transports, writes what came of it. Many may run on one
 * database, in one process or in many. Thread-safe.
 */
public final class Dispatcher implements AutoCloseable {

    private final Stores stores;
    private final List<Topic> declared;
    private final List<Topic> topics;
    private final boolean onlyKeepsHouse;
    private final DispatchOptions options;
    private final EventListener events;
    private final @Nullable Bell bell;
    private volatile @Nullable Engine engine;
    private boolean stopped;

    /**
     * @param topics those without a destination are left to other nodes
     * @param events what it throws goes no further
     * @throws InvalidConfigurationException when a transport may still be at work when its lease has run out
     */
    public Dispatcher(Stores stores, List<Topic> topics, DispatchOptions options, EventListener events) {
        this(stores, topics, options, events, null);
    }

    /** @param line how this node and the others of the same database tell each other of commits; closed by {@link #stop} */
    public Dispatcher(
            Stores stores,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events,
            Doorbell.@Nullable Line line) {
        this.stores = stores;
        this.declared = List.copyOf(topics);
        this.topics = topics.stream().filter(Topic::isDelivered).toList();
        this.onlyKeepsHouse = topics.isEmpty();
        this.options = options;
        this.events = new EventListeners(List.of(events));
        this.bell = line == null ? null : new Bell(line, Surroundings.system(), this.events);
        checkNames();
        this.topics.forEach(this::checkTimeout);
    }

    private void checkNames() {
        Set<TopicName> names = new HashSet<>();
        for (Topic topic : topics) {
            if (!names.add(topic.name())) {
                throw new InvalidConfigurationException("topic." + topic.name(), "is declared twice: keep one");
            }
        }
    }

    private void checkTimeout(Topic topic) {
        Transport transport = topic.transport();
        if (transport == null) {
            return;
        }
        Duration timeout = transport.timeout();
        Duration longest = options.lease().minus(options.headroom());
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(longest) >= 0) {
            throw new InvalidConfigurationException(
                    "topic." + topic.name() + ".timeout",
                    "(" + timeout + ") must be positive and shorter than nine tenths of lease (" + options.lease()
                            + ")");
        }
    }

    /** Begins to deliver; without any topics, to forget what is past its time, which is part of it. A second call changes nothing; after {@link #stop} a new dispatcher is needed. */
    public synchronized void start() {
        if (stopped) {
            throw new IllegalStateException("This dispatcher was stopped: build a new one");
        }
        if (topics.isEmpty() && !onlyKeepsHouse) {
            throw new InvalidConfigurationException(
                    "topics",
                    "have no destination on this node: declare at least one with deliver(…), process(…) or toInbox(…), or do not start");
        }
        if (engine == null) {
            Engine started = engine(false);
            engine = started;
            started.start();
            if (bell != null) {
                bell.listen(started::wake);
            }
        }
    }

    /** Something was committed: look for it now instead of at the next poll, here and on the other nodes. */
    public void wake() {
        Engine current = engine;
        if (current != null) {
            current.wake();
        }
        if (bell != null) {
            bell.ringAnywhere();
        }
    }

    /**
     * An operator has changed something: whoever delivers looks at once for what may be due, here, and with a doorbell on the other nodes.
     * Without one they notice at their next poll.
     */
    public void wakeForOperator() {
        Engine current = engine;
        if (current != null) {
            current.lookEverywhere();
        }
        if (bell != null) {
            bell.ringAnywhere();
        }
    }

    /**
     * For whoever writes messages in this process. Once started, and until stopped, this dispatcher takes over what it has room for
     * when it is committed, and looks for the rest at once.
     */
    public HandOver handOver() {
        return new HandOver() {
            @Override
            public Reservation reserve(List<Message> messages) {
                Engine current = engine;
                return current == null ? Reservation.NONE : current.reserve(messages);
            }

            @Override
            public void committed(Collection<Message> messages) {
                Engine current = engine;
                if (current != null) {
                    current.wakeFor(messages);
                }
                tellOthers(messages);
            }
        };
    }

    /** What is due later is found by polling. */
    private void tellOthers(Collection<Message> committed) {
        if (bell == null) {
            return;
        }
        Set<TopicName> due = new HashSet<>();
        for (Message message : committed) {
            Instant deliverAt = message.deliverAt();
            if (deliverAt == null || deliverAt.isBefore(Instant.now())) {
                due.add(message.topic());
            }
        }
        if (!due.isEmpty()) {
            bell.ring(due);
        }
    }

    /**
     * Delivers what is due now and returns when all of it has an outcome, running handlers in the calling thread: for tests, and
     * for processes that are started by a clock. Not to be mixed with {@link #start}.
     *
     * @return how many attempts were made
     * @throws dev.postrider.error.StoreException when the database fails; what was held is then released if it can be
     */
    public long deliverDue() {
        return engine(true).deliverDue();
    }

    private Engine engine(boolean inCallersThread) {
        return new Engine(stores, topics, options, events, handOver(), inCallersThread, Surroundings.system());
    }

    /**
     * Stops claiming, waits for the deliveries under way up to the drain timeout, releases what is left, and returns when that
     * is written. Called from within a handler, a transport or a listener it does the same in the background, since it would
     * wait for its own caller. May be called again, and before {@link #start}.
     */
    public void stop() {
        Engine last;
        synchronized (this) {
            stopped = true;
            last = engine;
        }
        if ((last != null && last.isCallingItself()) || (bell != null && bell.isCallingItself())) {
            new Thread(() -> stop(last), "postrider-stop").start();
        } else {
            stop(last);
        }
    }

    private void stop(@Nullable Engine last) {
        if (last != null) {
            last.stop();
        }
        if (bell != null) {
            bell.stop();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /**
     * For a loop of one's own, which claims messages from the {@link dev.postrider.store.MessageStore}: the delivery failed. The message is
     * tried again after the delay that the retry policy of its topic names, or buried if this was the last attempt that the topic allows.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic of the claim is not declared here
     */
    public Settlement nack(Claim claim, String error) {
        TopicName name = claim.message().topic();
        Topic topic = declared.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new UnknownTopicException(name.toString()));
        Outcome outcome = new Verdict(Surroundings.system()::chance).failed(topic, claim, error);
        return stores.messages().settle(List.of(outcome)).get(0);
    }

    /** How many messages this node holds at this moment. */
    public int inFlight() {
        Engine current = engine;
        return current == null ? 0 : current.inFlight();
    }
}
