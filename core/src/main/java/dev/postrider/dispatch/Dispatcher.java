package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.RetentionStore;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the messages of its topics: claims them, hands them to their transports, writes what came of it. Many may run on one
 * database, in one process or in many. Thread-safe.
 */
public final class Dispatcher implements AutoCloseable {

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

    private final MessageStore store;
    private final RetentionStore retention;
    private final List<Topic> topics;
    private final DispatchOptions options;
    private final EventListener events;
    private @Nullable Running running;
    private boolean stopped;

    /**
     * @param topics those without a destination are left to other nodes
     * @throws InvalidConfigurationException when a transport may still be at work when its lease has run out
     */
    public Dispatcher(
            MessageStore store,
            RetentionStore retention,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events) {
        this.store = store;
        this.retention = retention;
        this.topics = topics.stream().filter(Topic::isDelivered).toList();
        this.options = options;
        this.events = events;
        this.topics.forEach(this::checkTimeout);
    }

    private void checkTimeout(Topic topic) {
        Transport transport = topic.transport();
        Duration longest = options.lease().minus(options.headroom());
        if (transport != null && transport.timeout().compareTo(longest) >= 0) {
            throw new InvalidConfigurationException(
                    "topic." + topic.name() + ".timeout",
                    "(" + transport.timeout() + ") must be shorter than nine tenths of lease (" + options.lease()
                            + ")");
        }
    }

    /** Begins to deliver. A second call changes nothing; after {@link #stop} a new dispatcher is needed. */
    public synchronized void start() {
        if (stopped) {
            throw new IllegalStateException("This dispatcher was stopped: build a new one");
        }
        if (topics.isEmpty()) {
            throw new InvalidConfigurationException(
                    "topics",
                    "have no destination on this node: declare at least one with deliver(…), or do not start");
        }
        if (running == null) {
            running = new Running();
            running.start();
        }
    }

    /** Something was committed: look for it now instead of at the next poll. */
    public void wake() {
        Running current;
        synchronized (this) {
            current = running;
        }
        if (current != null) {
            current.wake();
        }
    }

    /**
     * Delivers what is due now, in the calling thread, and returns when all of it has an outcome: for tests, and for processes
     * that are started by a clock. Not to be mixed with {@link #start}.
     *
     * @return how many attempts were made
     */
    public long deliverDue() {
        Parts parts = new Parts(Runnable::run);
        long before;
        do {
            before = parts.writer.tally().total();
            parts.claims.lookNow();
            parts.claims.runOnce();
            parts.drain(options.lease());
        } while (parts.writer.tally().total() > before);
        return before;
    }

    /**
     * Stops claiming, waits for the deliveries under way up to the drain timeout, releases what is left, and returns when that
     * is written. Called from within a handler it does the same in the background, since that handler is one of those it would
     * wait for. May be called again, and before {@link #start}.
     */
    public void stop() {
        Running last;
        synchronized (this) {
            stopped = true;
            last = running;
            running = null;
        }
        if (last == null) {
            return;
        }
        if (Thread.currentThread() instanceof HandlerThread) {
            new Thread(last::stop, "postrider-stop").start();
        } else {
            last.stop();
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** How many messages this node holds at this moment. */
    public synchronized int inFlight() {
        return running == null ? 0 : running.parts.inFlight.count();
    }

    /** Everything that works together on one node, without the threads. */
    private final class Parts {

        final Time time = Time.system();
        final InFlight inFlight = new InFlight(options.maxInFlight(), options.maxInFlightBytes());
        final Waiter settled = new Waiter();
        final OutcomeWriter writer = new OutcomeWriter(store, inFlight, time, events, this::onSettled);
        final ClaimLoop claims;

        Parts(Executor handlerThreads) {
            DeliveryPipeline pipeline = new DeliveryPipeline(
                    transports(handlerThreads),
                    new Verdict(() -> ThreadLocalRandom.current().nextDouble()),
                    writer,
                    time,
                    options.lease().minus(options.headroom()));
            claims = new ClaimLoop(store, options, topics, inFlight, pipeline, time, events);
        }

        private Map<TopicName, Transport> transports(Executor handlerThreads) {
            Map<TopicName, Transport> transports = new HashMap<>();
            for (Topic topic : topics) {
                Transport transport = topic.transport();
                DeliveryHandler handler = topic.handler();
                if (transport != null) {
                    transports.put(topic.name(), transport);
                } else if (handler != null) {
                    transports.put(topic.name(), new HandlerTransport(topic, handler, handlerThreads));
                }
            }
            return transports;
        }

        private void onSettled(Outcome outcome) {
            if (outcome instanceof Outcome.Retry retry) {
                claims.lookAfter(retry.claim().message().topic(), retry.delay());
            }
            settled.signal();
        }

        /** Writes outcomes in this thread until nothing is in flight. */
        void drain(Duration atMost) {
            long deadline = time.nanos() + atMost.toNanos();
            while (inFlight.count() > 0 && time.nanos() - deadline < 0) {
                writer.runOnce();
                if (inFlight.count() > 0) {
                    pauseForAnswer();
                }
            }
        }

        private void pauseForAnswer() {
            try {
                settled.await(Duration.ofMillis(1));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The threads of a started dispatcher. */
    private final class Running {

        final ExecutorService handlerThreads = handlerThreads();
        final Parts parts = new Parts(handlerThreads);
        final BackgroundLoop claiming = new BackgroundLoop("claim", parts.claims::runOnce, events);
        final BackgroundLoop writing = new BackgroundLoop("settle", this::write, events);
        final BackgroundLoop keeping;
        final BackgroundLoop housekeeping;

        Running() {
            LeaseKeeper keeper = new LeaseKeeper(store, parts.inFlight, options.lease(), parts.time);
            Housekeeper housekeeper = new Housekeeper(
                    store, retention, options, topics, parts.time, events, parts.inFlight, parts.writer.tally());
            keeping = new BackgroundLoop("lease", keeper::runOnce, events);
            housekeeping = new BackgroundLoop("house", housekeeper::runOnce, events);
            parts.writer.onWork(writing::wake);
        }

        void start() {
            writing.start();
            keeping.start();
            claiming.start();
            housekeeping.start();
        }

        /** Slots become free by writing, so the claim loop is told. */
        private Duration write() {
            Duration pause = parts.writer.runOnce();
            claiming.wake();
            return pause;
        }

        void wake() {
            parts.claims.lookNow();
            claiming.wake();
        }

        void stop() {
            try {
                claiming.stop(options.lease());
                housekeeping.stop(FLUSH_TIMEOUT);
                awaitIdle(options.drainTimeout());
                handlerThreads.shutdownNow();
                parts.inFlight.all().forEach(held -> parts.writer.add(held, new Outcome.Released(held.claim())));
                awaitIdle(FLUSH_TIMEOUT);
                keeping.stop(FLUSH_TIMEOUT);
                writing.stop(FLUSH_TIMEOUT);
            } catch (InterruptedException e) {
                handlerThreads.shutdownNow();
                Thread.currentThread().interrupt();
            }
        }

        private void awaitIdle(Duration atMost) throws InterruptedException {
            long deadline = parts.time.nanos() + atMost.toNanos();
            while (parts.inFlight.count() > 0 && parts.time.nanos() - deadline < 0) {
                parts.settled.await(Duration.ofMillis(50));
            }
        }
    }

    /** One thread for each delivery under way, which the in-flight limits bound; idle ones go after a while. */
    private static ExecutorService handlerThreads() {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> new HandlerThread(task, "postrider-handler-" + number.incrementAndGet()));
    }

    private static final class HandlerThread extends Thread {

        HandlerThread(Runnable task, String name) {
            super(task, name);
            setDaemon(true);
        }
    }
}
