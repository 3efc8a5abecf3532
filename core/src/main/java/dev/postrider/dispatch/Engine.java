package dev.postrider.dispatch;

import dev.postrider.dispatch.OutcomeWriter.OutcomeSink;
import dev.postrider.error.StoreException;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.HandOver;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.Stores;
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
 * The components and threads of a running dispatcher. One loop claims and reads messages, one delivers the local
 * hand-over, one writes the outcomes of claimed messages, two write the outcomes of messages from lanes, one extends
 * leases, one balances lanes, one delivers suspects, and one does the housekeeping. Used once: either {@link #start}
 * and {@link #stop}, or {@link #deliverDue}. Thread-safe.
 */
final class Engine {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

    /** The number of outcomes in one write. For lanes, where a read writes nothing, twice as many proved faster. */
    private static final int BATCH = 500;

    private static final int LANE_BATCH = 2 * BATCH;

    /**
     * Lanes are assigned to the writers by their number, so that the outcomes of a key are written one after another.
     */
    private static final int LANE_WRITERS = 2;

    private final DispatchOptions options;
    private final Platform platform;
    private final EventListener events;
    private final Platform.Waiter settled;
    private final List<ExecutorService> pools = new ArrayList<>();
    private final InFlight inFlight;
    private final OutcomeWriter<Outcome> writer;
    private final List<OutcomeWriter<LaneOutcome>> laneWriters = new ArrayList<>();
    private final Map<TopicName, CircuitBreaker> breakers = new HashMap<>();
    private final DeliveryPipeline pipeline;
    private final ClaimLoop claims;
    private final LocalHandOver localHandOver;
    private final Map<TopicName, Sequencer> sequencers = new LinkedHashMap<>();
    private final LaneBalancer laneBalancer;
    private final IsolatedDelivery isolated;
    private final Housekeeper housekeeper;
    private final BackgroundLoop claiming;
    private final BackgroundLoop handing;
    private final BackgroundLoop writing;
    private final List<BackgroundLoop> laneWriting = new ArrayList<>();
    private final BackgroundLoop laneKeeping;
    private final BackgroundLoop isolatedDelivering;
    private final BackgroundLoop keeping;
    private final BackgroundLoop housekeeping;
    private boolean stopped;

    /**
     * @param handOver takes over the messages that handlers send
     * @param inCallersThread whether handlers run in the thread that calls {@link #deliverDue}
     */
    Engine(
            Stores stores,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events,
            HandOver handOver,
            boolean inCallersThread,
            Platform platform) {
        this.options = options;
        this.platform = platform;
        this.events = events;
        settled = platform.waiter();
        topics.forEach(topic -> breakers.put(topic.name(), new CircuitBreaker(topic, platform, events, this::rest)));
        inFlight = new InFlight(
                new SharedBudget(options.maxInFlight(), topics.size()),
                new SharedBudget(options.maxInFlightBytes(), topics.size()),
                topic -> breaker(topic).limit());
        writer = new OutcomeWriter<>(
                OutcomeSink.ofRows(stores.messages(), this::undecidedClaims, BATCH),
                inFlight,
                platform,
                events,
                this::rowSettled);
        for (int i = 0; i < LANE_WRITERS; i++) {
            laneWriters.add(new OutcomeWriter<>(
                    OutcomeSink.ofLanes(stores.lanes(), this::undecidedInLanes, LANE_BATCH),
                    inFlight,
                    platform,
                    events,
                    this::laneSettled));
        }
        Duration lastStart = options.lease().minus(options.headroom());
        pipeline = new DeliveryPipeline(
                deliveries(
                        topics,
                        topic -> new HandlerDelivery.Context(
                                stores.handling(), handOver, handlerThreads(topic, inCallersThread), platform),
                        lastStart),
                this::decide,
                platform,
                lastStart);
        topics.stream()
                .filter(Topic::isOrdered)
                .forEach(topic -> sequencers.put(
                        topic.name(),
                        new Sequencer(topic, inFlight, this::writeInLane, pipeline, platform, lastStart)));
        claims = new ClaimLoop(claimers(stores, topics), options.pollInterval(), platform, events);
        localHandOver = new LocalHandOver(stores.messages(), options, topics, inFlight, pipeline, platform, events);
        laneBalancer = new LaneBalancer(
                stores.lanes(),
                options,
                topics.stream().map(Topic::name).collect(Collectors.toSet()),
                sequencers,
                platform,
                events,
                this::lanesTaken);
        isolated = new IsolatedDelivery(
                stores.lanes(),
                sequencers.values(),
                inFlight,
                pipeline,
                this::decide,
                events,
                platform,
                platform.waiter());
        LeaseExtender leaseExtender = new LeaseExtender(stores.messages(), inFlight, options.lease(), platform);
        housekeeper = new Housekeeper(
                stores.messages(), stores.retention(), options, topics, platform, events, inFlight, this::counters);
        claiming = loop("claim", claims::runOnce);
        handing = loop("hand-over", this::handOver);
        writing = loop("settle", () -> write(writer));
        for (OutcomeWriter<LaneOutcome> laneWriter : laneWriters) {
            BackgroundLoop loop = loop("settle-lanes-" + (laneWriting.size() + 1), () -> write(laneWriter));
            laneWriter.onWork(loop::wake);
            laneWriting.add(loop);
        }
        keeping = loop("lease", () -> keep(leaseExtender));
        laneKeeping = loop("lanes", laneBalancer::runOnce);
        isolatedDelivering = loop("alone", isolated::runOnce);
        housekeeping = loop("house", housekeeper::runOnce);
        writer.onWork(writing::wake);
        localHandOver.onWork(handing::wake);
        inFlight.onFreed(this::roomFreed);
    }

    private BackgroundLoop loop(String name, BackgroundLoop.Duty duty) {
        return new BackgroundLoop(platform, this, name, duty, events);
    }

    private Map<Topic, Claimer> claimers(Stores stores, List<Topic> topics) {
        Claimer rows = new RowClaimer(stores.messages(), options, inFlight, pipeline, platform, events);
        Claimer lanes = new LaneClaimer(stores.lanes(), sequencers, inFlight, platform, events);
        Map<Topic, Claimer> claimers = new LinkedHashMap<>();
        topics.forEach(topic -> claimers.put(topic, topic.isOrdered() ? lanes : rows));
        return claimers;
    }

    void start() {
        breakers.values().forEach(CircuitBreaker::arm);
        startWriting();
        if (!breakers.isEmpty()) { // one for each topic
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
            isolatedDelivering.start();
        }
    }

    void wake() {
        claims.scanNow();
        claiming.wake();
    }

    /** Requests scans after a ring of another node. */
    void wake(Doorbell.Ring ring) {
        if (ring.isAnywhere()) {
            scanEverywhere();
        } else {
            ring.topics().forEach(claims::scanNow);
            claiming.wake();
        }
    }

    /** Requests a scan of every topic, including the heads of blocked keys. */
    void scanEverywhere() {
        claims.scanNow();
        sequencers.keySet().forEach(topic -> claims.scanAfter(topic, Duration.ZERO));
        claiming.wake();
    }

    /** Requests scans for messages that were committed on this node and have no lease. */
    void wakeFor(Collection<Message> committed) {
        long now = platform.wallMillis();
        for (Message message : committed) {
            Instant due = message.deliverAt();
            if (due == null || due.toEpochMilli() <= now) {
                claims.scanNow(message.topic());
            } else {
                claims.scanAfter(message.topic(), Duration.ofMillis(due.toEpochMilli() - now));
            }
        }
        claiming.wake();
    }

    HandOver.Reservation reserve(List<Message> messages) {
        return localHandOver.reserve(messages);
    }

    private void lanesTaken(TopicName topic) {
        claims.scanNow(topic);
        claims.scanAfter(topic, Duration.ZERO);
        claiming.wake();
    }

    private CircuitBreaker breaker(Topic topic) {
        return Objects.requireNonNull(breakers.get(topic.name()));
    }

    /**
     * Reacts when a circuit breaker opens. The topic is not scanned until the pause is over. Unsent messages of its
     * lanes are released, so that another node can acquire the lanes.
     */
    private void rest(Topic topic, Duration pause) {
        claims.rest(topic.name(), pause);
        if (topic.isOrdered()) {
            Objects.requireNonNull(sequencers.get(topic.name())).putBack();
        }
        claiming.wake();
        handing.wake(); // it runs again at the end of the pause
    }

    /**
     * Delivers the messages that were committed on this node, and sends messages of lanes that wait for a slot. Freed
     * room and the end of a breaker's pause wake this loop, because the thread that frees room may be a thread of the
     * application.
     */
    private Duration handOver() {
        Duration pause = localHandOver.runOnce();
        sequencers.values().forEach(Sequencer::slotsFreed);
        for (CircuitBreaker breaker : breakers.values()) {
            Duration rest = breaker.pauseLeft();
            pause = rest.isZero() || rest.compareTo(pause) >= 0 ? pause : rest;
        }
        return pause;
    }

    private void roomFreed() {
        claiming.wake();
        handing.wake();
    }

    private void decide(InFlightMessage claimed, Outcome outcome) {
        LaneClaim inLane = claimed.inLane();
        if (inLane == null) {
            writer.add(claimed, outcome);
        } else {
            sequencer(claimed).decide(claimed, OutcomeDecider.inLane(claimed.topic(), inLane, outcome));
        }
    }

    /**
     * Adds an outcome to the one writer of its lane, so that outcomes are written in the order in which they were
     * decided.
     */
    private boolean writeInLane(InFlightMessage claimed, LaneOutcome outcome) {
        int lane = Objects.requireNonNull(claimed.inLane()).lane();
        return laneWriters.get(lane % LANE_WRITERS).add(claimed, outcome);
    }

    private Sequencer sequencer(InFlightMessage claimed) {
        return Objects.requireNonNull(sequencers.get(claimed.topic().name()));
    }

    private int undecidedClaims() {
        return inFlight.claimed() - writer.unwritten();
    }

    private int undecidedInLanes() {
        int unwritten = 0;
        for (OutcomeWriter<LaneOutcome> laneWriter : laneWriters) {
            unwritten += laneWriter.unwritten();
        }
        return inFlight.inLanes() - unwritten;
    }

    private OutcomeCounters counters() {
        return laneWriters.stream().map(OutcomeWriter::counters).reduce(writer.counters(), OutcomeCounters::sum);
    }

    int inFlight() {
        return inFlight.count();
    }

    /** Whether {@link #stop} would wait for the calling thread. */
    boolean isCallingItself() {
        return Platform.isThreadOf(this);
    }

    /** Claims in the calling thread until no message is due any more, and stops. Returns the number of attempts. */
    long deliverDue() {
        startWriting();
        try {
            deliverRounds();
        } finally {
            stop();
        }
        return counters().attempts();
    }

    private void deliverRounds() {
        if (!sequencers.isEmpty()) {
            laneBalancer.runOnce();
        }
        long before;
        do {
            before = counters().total();
            claims.claimEach();
            awaitOutcomes();
        } while (counters().total() > before && !Thread.currentThread().isInterrupted());
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

    /**
     * Stops claiming, waits for running deliveries, releases the rest and writes those outcomes. Only the first call
     * has an effect.
     */
    synchronized void stop() {
        if (!stopped) {
            stopped = true;
            drain();
            release();
            flush();
        }
    }

    private void drain() {
        localHandOver.close();
        claiming.end();
        isolated.stop();
        isolatedDelivering.end();
        sequencers.values().forEach(Sequencer::close);
        pipeline.drain();
        laneBalancer.stop();
        laneKeeping.wake();
        housekeeper.stop();
        housekeeping.end();
        try {
            claiming.awaitEnd(options.lease());
            housekeeping.awaitEnd(FLUSH_TIMEOUT);
            awaitIdle(options.drainTimeout());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // continue without waiting for deliveries
        }
    }

    /** Releases the rest before handlers are interrupted, so that an interrupted handler does not count as failed. */
    private void release() {
        pipeline.close();
        inFlight.all().forEach(claimed -> decide(claimed, new Outcome.Released(claimed.claim())));
        pools.forEach(ExecutorService::shutdownNow);
    }

    /**
     * Writes the outcomes even if the caller is interrupted: a message without a written outcome is delivered twice.
     */
    private void flush() {
        boolean interrupted = Thread.interrupted();
        try {
            if (!awaitIdle(FLUSH_TIMEOUT)) {
                log.warn("Stopped with {} outcomes unwritten; their leases will expire", inFlight.count());
            }
            endWriting();
            handing.awaitEnd(FLUSH_TIMEOUT);
            keeping.awaitEnd(FLUSH_TIMEOUT);
            writing.awaitEnd(FLUSH_TIMEOUT);
            for (BackgroundLoop loop : laneWriting) {
                loop.awaitEnd(FLUSH_TIMEOUT);
            }
            isolatedDelivering.awaitEnd(FLUSH_TIMEOUT);
            if (laneKeeping.awaitEnd(FLUSH_TIMEOUT)) {
                leaveLanes(); // otherwise its thread waits for the database, and this one would too
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

    /** Releases the lanes at once. Otherwise other nodes would wait for the end of their leases. */
    private void leaveLanes() {
        try {
            laneBalancer.leave();
        } catch (StoreException e) {
            log.warn("Stopped without releasing its lanes; their leases will expire", e);
        }
    }

    private boolean awaitIdle(Duration atMost) throws InterruptedException {
        long deadline = platform.nanos() + atMost.toNanos();
        while (inFlight.count() > 0 && platform.nanos() - deadline < 0) {
            settled.await(Duration.ofMillis(50));
        }
        return inFlight.count() == 0;
    }

    /** Writes outcomes and wakes the claim loop, because written outcomes free slots. */
    private Duration write(OutcomeWriter<?> outcomes) {
        Duration pause = outcomes.runOnce();
        for (Sequencer sequencer : sequencers.values()) {
            sequencer.slotsFreed();
            if (sequencer.wantsMore()) {
                claims.scanNow(sequencer.topic().name());
            }
            if (sequencer.hasDrained()) {
                laneKeeping.wake();
            }
        }
        settled.signal();
        isolated.progressed();
        if (sequencers.values().stream().anyMatch(Sequencer::hasSuspects)) {
            isolatedDelivering.wake();
        }
        claiming.wake();
        return pause;
    }

    private Duration keep(LeaseExtender leaseExtender) {
        pipeline.giveUpOverdue(inFlight.all());
        localHandOver.freeExpired();
        return leaseExtender.runOnce();
    }

    private void rowSettled(InFlightMessage claimed, Outcome outcome, Settlement settlement) {
        if (outcome instanceof Outcome.Retry retry) {
            claims.scanAfter(claimed.topic().name(), retry.delay());
        }
    }

    private void laneSettled(InFlightMessage claimed, LaneOutcome outcome, Settlement settlement) {
        TopicName topic = claimed.topic().name();
        if (sequencer(claimed).settled(claimed, outcome, settlement)) {
            claims.scanNow(topic);
            claims.scanAfter(topic, Duration.ZERO);
        }
        if (outcome instanceof Outcome.Retry retry) {
            claims.scanAfter(topic, retry.delay());
        } else if (outcome instanceof LaneOutcome.RetryOutOfOrder outOfOrder) {
            claims.scanAfter(topic, outOfOrder.delay());
        }
    }

    private Map<TopicName, TopicDelivery> deliveries(
            List<Topic> topics, Function<Topic, HandlerDelivery.Context> context, Duration lastStart) {
        OutcomeDecider decider = new OutcomeDecider(platform::chance);
        Executor senders = senderThreads();
        Map<TopicName, TopicDelivery> deliveries = new HashMap<>();
        for (Topic topic : topics) {
            TopicDestination destination = topic.destination();
            if (destination instanceof TopicDestination.InTransaction inTransaction) {
                deliveries.put(
                        topic.name(),
                        new HandlerDelivery(topic, inTransaction, context.apply(topic), decider, this::decide));
            } else if (destination instanceof TopicDestination.ByTransport by) {
                deliveries.put(topic.name(), delivery(topic, by.transport(), senders, lastStart, decider));
            } else if (destination instanceof TopicDestination.ByHandler by) {
                Transport transport = new HandlerTransport(
                        topic, by.handler(), context.apply(topic).threads());
                // The handler has its own threads.
                deliveries.put(topic.name(), delivery(topic, transport, Runnable::run, lastStart, decider));
            }
        }
        return deliveries;
    }

    private TopicDelivery delivery(
            Topic topic, Transport transport, Executor threads, Duration lastStart, OutcomeDecider decider) {
        return new TransportDelivery(
                transport,
                breaker(topic),
                decider,
                this::decide,
                new TransportDelivery.Context(threads, lastStart, platform));
    }

    /** The delivery of each topic uses only a few of these threads. */
    private Executor senderThreads() {
        ExecutorService threads = platform.threads(this, "send", Integer.MAX_VALUE);
        pools.add(threads);
        return threads;
    }

    /**
     * One thread for each running delivery of the topic; idle threads end after a while. The pool allows as many again
     * for handlers that were given up and ignore their interrupt. When these are used up, further attempts of this
     * topic fail. Otherwise lost threads would fill the process.
     */
    private Executor handlerThreads(Topic topic, boolean inCallersThread) {
        if (inCallersThread) {
            return Runnable::run;
        }
        ExecutorService threads = platform.threads(this, "handler", 2 * inFlight.limit(topic));
        pools.add(threads);
        return threads;
    }
}
