package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.event.EventListener;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.HandOver;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.Stores;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts and the threads of a dispatcher at work: one loop claims and hands over, one takes over what was written on this node, one writes
 * outcomes of messages that were claimed, another those of messages that came in lanes, one keeps leases, one keeps lanes, one keeps house. Used once: either {@link #start} and {@link #stop}, or {@link #deliverDue}. Thread-safe.
 */
final class Engine {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

    /** How many outcomes are written at once; in lanes, where reading writes nothing, twice as many proved faster. */
    private static final int BATCH = 500;

    private static final int LANE_BATCH = 2 * BATCH;

    /** Lanes are divided among the writers by their number, so that the outcomes of a key are written one after another. */
    private static final int LANE_WRITERS = 2;

    private final DispatchOptions options;
    private final Surroundings surroundings;
    private final EventListener events;
    private final Waiter settled;
    private final List<ExecutorService> pools = new ArrayList<>();
    private final InFlight inFlight;
    private final OutcomeWriter writer;
    private final List<OutcomeWriter> laneWriters = new ArrayList<>();
    private final Map<TopicName, Breaker> breakers = new HashMap<>();
    private final DeliveryPipeline pipeline;
    private final ClaimLoop claims;
    private final BornClaims births;
    private final Map<TopicName, Sequencer> sequencers = new LinkedHashMap<>();
    private final LaneKeeper laneKeeper;
    private final Solitude solitude;
    private final Housekeeper housekeeper;
    private final BackgroundLoop claiming;
    private final BackgroundLoop handing;
    private final BackgroundLoop writing;
    private final List<BackgroundLoop> laneWriting = new ArrayList<>();
    private final BackgroundLoop laneKeeping;
    private final BackgroundLoop aloneDelivering;
    private final BackgroundLoop keeping;
    private final BackgroundLoop housekeeping;
    private boolean stopped;

    /**
     * @param handOver who takes over what handlers send
     * @param inCallersThread whether handlers run in the thread that calls {@link #deliverDue}
     */
    Engine(
            Stores stores,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events,
            HandOver handOver,
            boolean inCallersThread,
            Surroundings surroundings) {
        this.options = options;
        this.surroundings = surroundings;
        this.events = events;
        settled = surroundings.waiter();
        topics.forEach(topic -> breakers.put(topic.name(), new Breaker(topic, surroundings, events, this::rest)));
        inFlight = new InFlight(
                new SharedBudget(options.maxInFlight(), topics.size()),
                new SharedBudget(options.maxInFlightBytes(), topics.size()),
                topic -> breaker(topic).limit());
        writer = new OutcomeWriter(
                new OutcomeWriter.Ledger(stores.messages()::settle, this::undecidedClaims, BATCH),
                inFlight,
                surroundings,
                events,
                this::rowSettled);
        for (int i = 0; i < LANE_WRITERS; i++) {
            laneWriters.add(new OutcomeWriter(
                    new OutcomeWriter.Ledger(stores.lanes()::settle, this::undecidedInLanes, LANE_BATCH),
                    inFlight,
                    surroundings,
                    events,
                    this::laneSettled));
        }
        Duration lastStart = options.lease().minus(options.headroom());
        pipeline = new DeliveryPipeline(
                couriers(
                        topics,
                        topic -> new HandlingCourier.Means(
                                stores.handling(), handOver, handlerThreads(topic, inCallersThread), surroundings),
                        lastStart),
                this::decide,
                surroundings,
                lastStart);
        topics.stream()
                .filter(Topic::isOrdered)
                .forEach(topic -> sequencers.put(
                        topic.name(),
                        new Sequencer(topic, inFlight, this::writeInLane, pipeline, surroundings, lastStart)));
        claims = new ClaimLoop(claimers(stores, topics), options.pollInterval(), surroundings, events);
        births = new BornClaims(stores.messages(), options, topics, inFlight, pipeline, surroundings, events);
        laneKeeper = new LaneKeeper(
                stores.lanes(),
                options,
                topics.stream().map(Topic::name).collect(Collectors.toSet()),
                sequencers,
                surroundings,
                events,
                this::lanesTaken);
        solitude = new Solitude(
                stores.lanes(), sequencers.values(), inFlight, pipeline, this::decide, events, surroundings.waiter());
        LeaseKeeper keeper = new LeaseKeeper(stores.messages(), inFlight, options.lease(), surroundings);
        housekeeper = new Housekeeper(
                stores.messages(), stores.retention(), options, topics, surroundings, events, inFlight, this::tally);
        claiming = loop("claim", claims::runOnce);
        handing = loop("hand-over", this::handOver);
        writing = loop("settle", () -> write(writer));
        for (OutcomeWriter laneWriter : laneWriters) {
            BackgroundLoop loop = loop("settle-lanes-" + (laneWriting.size() + 1), () -> write(laneWriter));
            laneWriter.onWork(loop::wake);
            laneWriting.add(loop);
        }
        keeping = loop("lease", () -> keep(keeper));
        laneKeeping = loop("lanes", laneKeeper::runOnce);
        aloneDelivering = loop("alone", solitude::runOnce);
        housekeeping = loop("house", housekeeper::runOnce);
        writer.onWork(writing::wake);
        births.onWork(handing::wake);
        inFlight.onFreed(this::roomFreed);
    }

    private BackgroundLoop loop(String name, BackgroundLoop.Duty duty) {
        return new BackgroundLoop(surroundings, this, name, duty, events);
    }

    private Map<Topic, Claimer> claimers(Stores stores, List<Topic> topics) {
        Claimer rows = new RowClaimer(stores.messages(), options, inFlight, pipeline, surroundings, events);
        Claimer lanes = new LaneClaimer(stores.lanes(), sequencers, inFlight, surroundings, events);
        Map<Topic, Claimer> claimers = new LinkedHashMap<>();
        topics.forEach(topic -> claimers.put(topic, topic.isOrdered() ? lanes : rows));
        return claimers;
    }

    void start() {
        breakers.values().forEach(Breaker::arm);
        startWriting();
        if (!breakers.isEmpty()) { // of which each topic has one
            laneKeeping.start();
        }
        handing.start();
        claiming.start();
        housekeeping.start();
    }

    private void startWriting() {
        writing.start();
        keeping.start();
        if (!sequencers.isEmpty()) {
            laneWriting.forEach(BackgroundLoop::start);
            aloneDelivering.start();
        }
    }

    void wake() {
        claims.lookNow();
        claiming.wake();
    }

    /** Another node has committed something. */
    void wake(Doorbell.Ring ring) {
        if (ring.isAnywhere()) {
            lookEverywhere();
        } else {
            ring.topics().forEach(claims::lookNow);
            claiming.wake();
        }
    }

    /** Something may be due in every topic, also at the front of held keys. */
    void lookEverywhere() {
        claims.lookNow();
        sequencers.keySet().forEach(topic -> claims.lookAfter(topic, Duration.ZERO));
        claiming.wake();
    }

    /** These were committed on this node, and nobody holds them. */
    void wakeFor(Collection<Message> committed) {
        long now = surroundings.wallMillis();
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

    private void lanesTaken(TopicName topic) {
        claims.lookNow(topic);
        claims.lookAfter(topic, Duration.ZERO);
        claiming.wake();
    }

    private Breaker breaker(Topic topic) {
        return Objects.requireNonNull(breakers.get(topic.name()));
    }

    /** A destination is down: nothing of its topic is in hand when the rest is over, and another node may have its lanes. */
    private void rest(Topic topic, Duration pause) {
        claims.rest(topic.name(), pause);
        if (topic.isOrdered()) {
            Objects.requireNonNull(sequencers.get(topic.name())).putBack();
        }
        claiming.wake();
        handing.wake(); // it waits for the end of the rest
    }

    /**
     * Delivers what was committed on this node, and sends from lanes what waits for room. Room that was given back, and the end of a rest,
     * lead here: whoever gave it back may be a thread of the application's.
     */
    private Duration handOver() {
        Duration pause = births.runOnce();
        sequencers.values().forEach(Sequencer::slotsFreed);
        for (Breaker breaker : breakers.values()) {
            Duration rest = breaker.restLeft();
            pause = rest.isZero() || rest.compareTo(pause) >= 0 ? pause : rest;
        }
        return pause;
    }

    private void roomFreed() {
        claiming.wake();
        handing.wake();
    }

    private void decide(Held held, Outcome outcome) {
        if (held.inLane() == null) {
            writer.add(held, outcome);
        } else {
            sequencer(held).decide(held, outcome);
        }
    }

    /** What happened in a lane is written by one thread, in the order in which it happened. */
    private boolean writeInLane(Held held, Outcome outcome) {
        int lane = Objects.requireNonNull(held.inLane()).lane();
        return laneWriters.get(lane % LANE_WRITERS).add(held, outcome);
    }

    private Sequencer sequencer(Held held) {
        return Objects.requireNonNull(sequencers.get(held.topic().name()));
    }

    private int undecidedClaims() {
        return inFlight.claimed() - writer.unwritten();
    }

    private int undecidedInLanes() {
        int unwritten = 0;
        for (OutcomeWriter laneWriter : laneWriters) {
            unwritten += laneWriter.unwritten();
        }
        return inFlight.inLanes() - unwritten;
    }

    private Tally tally() {
        return laneWriters.stream().map(OutcomeWriter::tally).reduce(writer.tally(), Tally::sum);
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
        startWriting();
        try {
            deliverRounds();
        } finally {
            stop();
        }
        return tally().attempts();
    }

    private void deliverRounds() {
        if (!sequencers.isEmpty()) {
            laneKeeper.runOnce();
        }
        long before;
        do {
            before = tally().total();
            claims.claimEach();
            awaitOutcomes();
        } while (tally().total() > before && !Thread.currentThread().isInterrupted());
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
        solitude.stop();
        aloneDelivering.end();
        sequencers.values().forEach(Sequencer::close);
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
        inFlight.all().forEach(held -> decide(held, new Outcome.Released(held.claim())));
        pools.forEach(ExecutorService::shutdownNow);
    }

    /** However much of a hurry there is: an outcome that is not written is a message delivered twice. */
    private void flush() {
        boolean interrupted = Thread.interrupted();
        try {
            if (!awaitIdle(FLUSH_TIMEOUT)) {
                log.warn("Stopped with {} outcomes unwritten; their leases will run out", inFlight.count());
            }
            endWriting();
            handing.awaitEnd(FLUSH_TIMEOUT);
            keeping.awaitEnd(FLUSH_TIMEOUT);
            writing.awaitEnd(FLUSH_TIMEOUT);
            for (BackgroundLoop loop : laneWriting) {
                loop.awaitEnd(FLUSH_TIMEOUT);
            }
            aloneDelivering.awaitEnd(FLUSH_TIMEOUT);
            if (laneKeeping.awaitEnd(FLUSH_TIMEOUT)) {
                leaveLanes(); // otherwise it is waiting for the database, and so would this
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            endWriting();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void endWriting() {
        handing.end();
        keeping.end();
        writing.end();
        laneWriting.forEach(BackgroundLoop::end);
        laneKeeping.end();
    }

    /** At once to whoever wants them; otherwise they would wait for the end of the lease. */
    private void leaveLanes() {
        try {
            laneKeeper.leave();
        } catch (StoreException e) {
            log.warn("Stopped without giving back its lanes; they are free when their lease ends", e);
        }
    }

    private boolean awaitIdle(Duration atMost) throws InterruptedException {
        long deadline = surroundings.nanos() + atMost.toNanos();
        while (inFlight.count() > 0 && surroundings.nanos() - deadline < 0) {
            settled.await(Duration.ofMillis(50));
        }
        return inFlight.count() == 0;
    }

    /** Slots become free by writing, so the claim loop is told. */
    private Duration write(OutcomeWriter outcomes) {
        Duration pause = outcomes.runOnce();
        for (Sequencer sequencer : sequencers.values()) {
            sequencer.slotsFreed();
            if (sequencer.wantsMore()) {
                claims.lookNow(sequencer.topic().name());
            }
            if (sequencer.hasDry()) {
                laneKeeping.wake();
            }
        }
        settled.signal();
        solitude.progressed();
        claiming.wake();
        return pause;
    }

    private Duration keep(LeaseKeeper keeper) {
        pipeline.giveUpOverdue(inFlight.all());
        births.freeExpired();
        return keeper.runOnce();
    }

    private void rowSettled(Held held, Outcome outcome, Settlement settlement) {
        if (outcome instanceof Outcome.Retry retry) {
            claims.lookAfter(held.topic().name(), retry.delay());
        }
    }

    private void laneSettled(Held held, Outcome outcome, Settlement settlement) {
        TopicName topic = held.topic().name();
        if (sequencer(held).settled(held, outcome, settlement)) {
            claims.lookNow(topic);
            claims.lookAfter(topic, Duration.ZERO);
        }
        if (outcome instanceof Outcome.Retry retry) {
            claims.lookAfter(topic, retry.delay());
        } else if (outcome instanceof Outcome.Skipped skipped) {
            claims.lookAfter(topic, skipped.delay());
        }
    }

    private Map<TopicName, Courier> couriers(
            List<Topic> topics, Function<Topic, HandlingCourier.Means> means, Duration lastStart) {
        Verdict verdict = new Verdict(surroundings::chance);
        Executor senders = senderThreads();
        Map<TopicName, Courier> couriers = new HashMap<>();
        for (Topic topic : topics) {
            if (topic.isProcessed()) {
                couriers.put(topic.name(), new HandlingCourier(topic, means.apply(topic), verdict, this::decide));
                continue;
            }
            DeliveryHandler handler = topic.handler();
            Transport transport = handler == null
                    ? topic.transport()
                    : new HandlerTransport(topic, handler, means.apply(topic).threads());
            if (transport != null) {
                Executor threads = handler == null ? senders : Runnable::run; // a handler has threads of its own
                couriers.put(
                        topic.name(),
                        new TransportCourier(
                                transport,
                                breaker(topic),
                                verdict,
                                this::decide,
                                new TransportCourier.Means(threads, lastStart, surroundings)));
            }
        }
        return couriers;
    }

    /** Couriers take no more than a few threads for each topic. */
    private Executor senderThreads() {
        ExecutorService threads = surroundings.threads(this, "send", Integer.MAX_VALUE);
        pools.add(threads);
        return threads;
    }

    /**
     * One thread for each delivery of the topic under way; idle ones go after a while. As many again for handlers that were given up but
     * ignore their interruption: when these are used up further attempts of this topic fail, rather than fill the machine with lost threads.
     */
    private Executor handlerThreads(Topic topic, boolean inCallersThread) {
        if (inCallersThread) {
            return Runnable::run;
        }
        ExecutorService threads = surroundings.threads(this, "handler", 2 * inFlight.limit(topic));
        pools.add(threads);
        return threads;
    }
}
