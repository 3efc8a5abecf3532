package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.HandOver;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.RetentionStore;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts and the threads of a dispatcher at work: one loop claims and delivers, one delivers what was written on this node, one
 * writes outcomes, one keeps leases, one keeps house. Used once: either {@link #start} and {@link #stop}, or {@link #deliverDue}. Thread-safe.
 */
final class Engine {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

    private final DispatchOptions options;
    private final Time time = Time.system();
    private final Waiter settled = new Waiter();
    private final ExecutorService handlerThreads;
    private final InFlight inFlight;
    private final OutcomeWriter writer;
    private final DeliveryPipeline pipeline;
    private final ClaimLoop claims;
    private final BornClaims births;
    private final Housekeeper housekeeper;
    private final BackgroundLoop claiming;
    private final BackgroundLoop handing;
    private final BackgroundLoop writing;
    private final BackgroundLoop keeping;
    private final BackgroundLoop housekeeping;
    private boolean stopped;

    /** @param inCallersThread whether handlers run in the thread that calls {@link #deliverDue} */
    Engine(
            MessageStore store,
            RetentionStore retention,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events,
            boolean inCallersThread) {
        this.options = options;
        handlerThreads = handlerThreads(options.maxInFlight());
        inFlight = new InFlight(options.maxInFlight(), options.maxInFlightBytes());
        writer = new OutcomeWriter(store, inFlight, time, events, this::onSettled);
        pipeline = new DeliveryPipeline(
                transports(topics, inCallersThread ? Runnable::run : handlerThreads),
                new Verdict(() -> ThreadLocalRandom.current().nextDouble()),
                writer,
                time,
                options.lease().minus(options.headroom()));
        claims = new ClaimLoop(store, options, topics, inFlight, pipeline, time, events);
        births = new BornClaims(store, options, topics, inFlight, pipeline, time, events);
        LeaseKeeper keeper = new LeaseKeeper(store, inFlight, options.lease(), time);
        housekeeper = new Housekeeper(store, retention, options, topics, time, events, inFlight, writer.tally());
        claiming = new BackgroundLoop(this, "claim", claims::runOnce, events);
        handing = new BackgroundLoop(this, "hand-over", births::runOnce, events);
        writing = new BackgroundLoop(this, "settle", this::write, events);
        keeping = new BackgroundLoop(this, "lease", () -> keep(keeper), events);
        housekeeping = new BackgroundLoop(this, "house", housekeeper::runOnce, events);
        writer.onWork(writing::wake);
        births.onWork(handing::wake);
    }

    void start() {
        writing.start();
        keeping.start();
        handing.start();
        claiming.start();
        housekeeping.start();
    }

    void wake() {
        claims.lookNow();
        claiming.wake();
    }

    /** Another node has committed something. */
    void wake(Doorbell.Ring ring) {
        if (ring.isAnywhere()) {
            claims.lookNow();
        } else {
            ring.topics().forEach(claims::lookNow);
        }
        claiming.wake();
    }

    /** These were committed on this node, and nobody holds them. */
    void wakeFor(Collection<Message> committed) {
        long now = time.wallMillis();
        for (Message message : committed) {
            Instant due = message.deliverAt();
            if (due == null || due.toEpochMilli() <= now) {
                claims.lookNow(message.topic());
            } else {
                claims.lookAfter(message.topic(), Duration.ofMillis(due.toEpochMilli() - now));
            }
        }
        claiming.wake();
    }

    HandOver.Reservation reserve(List<Message> messages) {
        return births.reserve(messages);
    }

    int inFlight() {
        return inFlight.count();
    }

    /** Whether the calling thread is one that {@link #stop} would wait for. */
    boolean isCallingItself() {
        return OwnThread.isRunningFor(this);
    }

    /** Claims in the calling thread until nothing is due any more, and stops; says how many attempts were made. */
    long deliverDue() {
        writing.start();
        keeping.start();
        try {
            deliverRounds();
        } finally {
            stop();
        }
        return writer.tally().attempts();
    }

    private void deliverRounds() {
        long before;
        do {
            before = writer.tally().total();
            claims.claimEach();
            awaitOutcomes();
        } while (writer.tally().total() > before && !Thread.currentThread().isInterrupted());
    }

    private void awaitOutcomes() {
        try {
            if (!awaitIdle(options.lease().multipliedBy(2))) {
                throw new StoreException(
                        "The outcomes of " + inFlight.count() + " messages could not be written: see the log", null);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops claiming, waits for deliveries under way, releases the rest and writes that. Only the first call does anything. */
    synchronized void stop() {
        if (!stopped) {
            stopped = true;
            drain();
            release();
            flush();
        }
    }

    private void drain() {
        births.close();
        claiming.end();
        housekeeper.stop();
        housekeeping.end();
        try {
            claiming.awaitEnd(options.lease());
            housekeeping.awaitEnd(FLUSH_TIMEOUT);
            awaitIdle(options.drainTimeout());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // in a hurry: go on without waiting for deliveries
        }
    }

    /** The release is decided first, so that a handler that is interrupted now has not failed. */
    private void release() {
        pipeline.close();
        inFlight.all().forEach(held -> writer.add(held, new Outcome.Released(held.claim())));
        handlerThreads.shutdownNow();
    }

    /** However much of a hurry there is: an outcome that is not written is a message delivered twice. */
    private void flush() {
        boolean interrupted = Thread.interrupted();
        try {
            if (!awaitIdle(FLUSH_TIMEOUT)) {
                log.warn("Stopped with {} outcomes unwritten; their leases will run out", inFlight.count());
            }
            handing.end();
            keeping.end();
            writing.end();
            handing.awaitEnd(FLUSH_TIMEOUT);
            keeping.awaitEnd(FLUSH_TIMEOUT);
            writing.awaitEnd(FLUSH_TIMEOUT);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            handing.end();
            keeping.end();
            writing.end();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitIdle(Duration atMost) throws InterruptedException {
        long deadline = time.nanos() + atMost.toNanos();
        while (inFlight.count() > 0 && time.nanos() - deadline < 0) {
            settled.await(Duration.ofMillis(50));
        }
        return inFlight.count() == 0;
    }

    /** Slots become free by writing, so the claim loop is told. */
    private Duration write() {
        Duration pause = writer.runOnce();
        claiming.wake();
        return pause;
    }

    private Duration keep(LeaseKeeper keeper) {
        pipeline.giveUpOverdue(inFlight.all());
        births.freeExpired();
        return keeper.runOnce();
    }

    private void onSettled(Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            claims.lookAfter(retry.claim().message().topic(), retry.delay());
        }
        settled.signal();
    }

    private static Map<TopicName, Transport> transports(List<Topic> topics, Executor handlerThreads) {
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

    /**
     * One thread for each delivery under way; idle ones go after a while. As many again for handlers that were given up but
     * ignore their interruption: when these are used up further attempts fail, rather than fill the machine with lost threads.
     */
    private ExecutorService handlerThreads(int maxInFlight) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(
                0,
                2 * maxInFlight,
                10,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> new OwnThread(this, task, "handler-" + number.incrementAndGet()));
    }
}
