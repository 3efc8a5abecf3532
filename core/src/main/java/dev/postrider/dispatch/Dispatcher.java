package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.internal.Internal;
import dev.postrider.internal.Platform;
import dev.postrider.internal.event.EventListeners;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Stores;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the messages of its topics: claims them, passes them to their transports and handlers, and writes the
 * outcomes. Many dispatchers may run on one database, in one process or in many. Thread-safe.
 */
@Internal
public final class Dispatcher implements AutoCloseable {

    private final Stores stores;
    private final List<Topic> declared;
    private final NodeSettings settings;
    private final boolean hasOnlyHousekeeping;
    private final @Nullable DoorbellClient bell;
    private volatile @Nullable Engine engine;
    private boolean stopped;

    /** The engines of running calls of {@link #deliverDue}, with their threads. */
    private final Map<Engine, Thread> deliveringDue = new ConcurrentHashMap<>();

    /**
     * What connects a dispatcher with the application and with other nodes.
     *
     * @param events its exceptions are not propagated
     * @param line carries wake-ups between the nodes of this database; {@link #stop} closes it
     */
    public record NodeConnections(EventListener events, SafeTracing tracing, Doorbell.@Nullable Line line) {}

    /** As {@link #Dispatcher(Stores, List, DispatchOptions, NodeConnections)}, without a tracer and a doorbell. */
    public Dispatcher(Stores stores, List<Topic> topics, DispatchOptions options, EventListener events) {
        this(stores, topics, options, new NodeConnections(events, SafeTracing.NONE, null));
    }

    /**
     * @param topics topics without a destination are delivered by other nodes
     * @throws InvalidConfigurationException when a transport may still be running when its lease has expired
     */
    public Dispatcher(Stores stores, List<Topic> topics, DispatchOptions options, NodeConnections connections) {
        this.stores = stores;
        this.declared = List.copyOf(topics);
        List<Topic> delivered = topics.stream().filter(Topic::isDelivered).toList();
        EventListener events = new EventListeners(List.of(connections.events()));
        this.settings = new NodeSettings(delivered, options, events, connections.tracing());
        this.hasOnlyHousekeeping = topics.isEmpty();
        Doorbell.Line line = connections.line();
        this.bell = line == null ? null : new DoorbellClient(line, Platform.system(), events);
        checkNames();
        delivered.forEach(this::checkTimeout);
    }

    private void checkNames() {
        Set<TopicName> names = new HashSet<>();
        for (Topic topic : settings.topics()) {
            if (!names.add(topic.name())) {
                throw new InvalidConfigurationException("topic." + topic.name(), "is declared twice: keep one");
            }
        }
    }

    private void checkTimeout(Topic topic) {
        if (!(topic.destination() instanceof TopicDestination.ByTransport by)) {
            return;
        }
        Duration timeout = by.transport().timeout();
        DispatchOptions options = settings.options();
        Duration longest = options.lease().minus(options.headroom());
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(longest) >= 0) {
            throw new InvalidConfigurationException(
                    "topic." + topic.name() + ".timeout",
                    "(" + timeout + ") must be positive and shorter than nine tenths of lease (" + options.lease()
                            + ")");
        }
    }

    /**
     * Starts the deliveries and the housekeeping. Without any topics it starts only the housekeeping. A second call has
     * no effect. After {@link #stop} a new dispatcher is needed.
     */
    public synchronized void start() {
        if (stopped) {
            throw new IllegalStateException("This dispatcher was stopped: build a new one");
        }
        if (settings.topics().isEmpty() && !hasOnlyHousekeeping) {
            throw new InvalidConfigurationException(
                    "topics",
                    "have no destination on this node: declare at least one with deliver(…), process(…) or toInbox(…), or do not start");
        }
        if (engine == null) {
            Engine started = engine(false);
            engine = started;
            started.start();
            if (bell != null) {
                bell.listen(started.wakeUps()::rang);
            }
        }
    }

    /** Requests a scan after a commit, here and on the other nodes, so that messages do not wait for the next poll. */
    public void wake() {
        Engine current = engine;
        if (current != null) {
            current.wakeUps().scanNow();
        }
        if (bell != null) {
            bell.ringAnywhere();
        }
    }

    /**
     * Requests a scan for due messages after an operator's action: here, and with a doorbell on the other nodes.
     * Without a doorbell they notice the action at their next poll.
     */
    public void wakeForOperator() {
        Engine current = engine;
        if (current != null) {
            current.wakeUps().scanEverywhere();
        }
        if (bell != null) {
            bell.ringAnywhere();
        }
    }

    /**
     * The hand-over for code that writes messages in this process. Between {@link #start} and {@link #stop} this
     * dispatcher delivers the committed messages that it has room for, and scans for the rest at once.
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
                    current.wakeUps().committed(messages);
                }
                tellOthers(messages);
            }
        };
    }

    /** Rings for due messages. Scheduled messages are found by polls. */
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
     * Delivers the messages that are due now and returns when all of them have an outcome, or when {@link #stop} is
     * called meanwhile. Handlers run in the calling thread. For tests, and for processes that a scheduler starts. Not to be combined with {@link #start}.
     *
     * @return the number of attempts
     * @throws dev.postrider.error.StoreException when the database fails; messages in flight are then released if
     *     possible
     */
    public long deliverDue() {
        Engine once = engine(true);
        deliveringDue.put(once, Thread.currentThread());
        try {
            return once.deliverDue();
        } finally {
            deliveringDue.remove(once);
        }
    }

    private Engine engine(boolean inCallersThread) {
        return new Engine(stores, settings, handOver(), inCallersThread, Platform.system());
    }

    /**
     * Stops claiming, waits for running deliveries up to the drain timeout, releases the rest, and returns when those
     * outcomes are written. If a handler, a transport or a listener calls it, it does the same in the background,
     * because it would wait for its own caller. It may be called again, and before {@link #start}.
     */
    public void stop() {
        List<Engine> running;
        synchronized (this) {
            stopped = true;
            running = new ArrayList<>(deliveringDue.keySet());
            if (engine != null) {
                running.add(engine);
            }
        }
        boolean isCallingItself = deliveringDue.containsValue(Thread.currentThread())
                || running.stream().anyMatch(Engine::isCallingItself)
                || (bell != null && bell.isCallingItself());
        if (isCallingItself) {
            new Thread(() -> stop(running), "postrider-stop").start();
        } else {
            stop(running);
        }
    }

    private void stop(List<Engine> running) {
        running.forEach(Engine::stop);
        if (bell != null) {
            bell.stop();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /**
     * Writes a failed delivery, for an application with its own loop that claims messages from the {@link
     * dev.postrider.store.MessageStore}. The message is retried after the delay of the retry policy of its topic, or
     * buried if this was the last attempt that the topic allows.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic of the claim is not declared here
     */
    public Settlement nack(Claim claim, String error) {
        if (claim == null) {
            throw new InvalidConfigurationException("claim", "is missing: an outcome names it");
        }
        TopicName name = claim.message().topic();
        Topic topic = declared.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new UnknownTopicException(name.toString()));
        Outcome outcome = new OutcomeDecider(Platform.system()::chance).failed(topic, claim, error);
        return stores.messages().settle(List.of(outcome)).get(0);
    }

    /** The name of this node. */
    String worker() {
        return settings.options().worker();
    }

    /** What this node is doing now. */
    NodeLoad load(Duration clockSkew, String schemaProblem) {
        Engine current = engine;
        List<NodeLoad.TopicLoad> topics = current == null
                ? List.of()
                : settings.topics().stream().map(current::load).toList();
        return new NodeLoad(worker(), inFlight(), clockSkew, schemaProblem, topics);
    }

    /** The number of messages in flight on this node. */
    public int inFlight() {
        Engine current = engine;
        return current == null ? 0 : current.inFlight();
    }
}
