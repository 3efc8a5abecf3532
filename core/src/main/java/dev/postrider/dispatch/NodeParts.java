package dev.postrider.dispatch;

import dev.postrider.dispatch.OutcomeWriter.OutcomeSink;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Stores;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.TopicName;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;

/**
 * The components of a dispatcher, connected. A claimed message goes from a {@link Claimer} through the
 * {@link DeliveryPipeline} to the {@link TopicDelivery} of its topic, its outcome through the {@link OutcomeRouter} to
 * an {@link OutcomeWriter}, and {@link AfterSettlement} continues when that is written.
 */
final class NodeParts {

    final NodeThreads threads;
    final InFlight inFlight;
    final Map<TopicName, CircuitBreaker> breakers = new HashMap<>();
    final Sequencers sequencers = new Sequencers();
    final WakeUps wakeUps;
    final IsolatedDelivery isolated;
    final AfterSettlement afterSettlement;
    final OutcomeWriter<Outcome> rowWriter;
    final List<OutcomeWriter<LaneOutcome>> laneWriters = new ArrayList<>();
    final OutcomeRouter outcomes;
    final DeliveryPipeline pipeline;
    final ClaimLoop claims;
    final LocalHandOver localHandOver;
    final LaneBalancer laneBalancer;
    final LeaseExtender leaseExtender;
    final Housekeeper housekeeper;

    /** Signalled after each round of a writer, and when a handler waits for the calling thread. */
    final Platform.Waiter settled;

    /** Runs the handlers, unless they have their own threads. */
    final CallingThread callingThread;

    private final boolean inCallersThread;
    private final Platform platform;
    private final LeaseValidity.Limit leaseLimit;

    /**
     * @param handOver takes over the messages that handlers send
     * @param inCallersThread whether handlers run in the thread that calls {@link Engine#deliverDue}
     */
    NodeParts(Stores stores, NodeSettings settings, HandOver handOver, boolean inCallersThread, Platform platform) {
        this.platform = platform;
        this.inCallersThread = inCallersThread;
        DispatchOptions options = settings.options();
        EventListener events = settings.events();
        List<Topic> topics = settings.topics();
        leaseLimit = new LeaseValidity.Limit(platform, options.lease().minus(options.headroom()));
        settled = platform.waiter();
        callingThread = new CallingThread(platform, settled);

        threads = new NodeThreads(platform, events);
        ScanSchedule scans = new ScanSchedule(topics, options.pollInterval(), platform);
        wakeUps = new WakeUps(scans, threads, sequencers, platform);
        topics.forEach(topic -> breakers.put(topic.name(), new CircuitBreaker(topic, platform, events, wakeUps)));
        inFlight = new InFlight(
                new SharedBudget(options.maxInFlight(), topics.size()),
                new SharedBudget(options.maxInFlightBytes(), topics.size()),
                topic -> breaker(topic).limit());
        inFlight.onFreed(wakeUps);
        isolated = new IsolatedDelivery(stores.lanes(), sequencers, inFlight, settings, platform);

        afterSettlement = new AfterSettlement(scans, threads, sequencers, isolated, settled);
        rowWriter = writer(OutcomeSink.ofRows(stores.messages(), inFlight), threads.settleRows, events);
        OutcomeSink<LaneOutcome> lanes = OutcomeSink.ofLanes(stores.lanes(), inFlight);
        threads.settleLanes.forEach(loop -> laneWriters.add(writer(lanes, loop, events)));
        outcomes = new OutcomeRouter(rowWriter, laneWriters, sequencers, platform);

        pipeline = new DeliveryPipeline(deliveries(stores, settings, handOver), outcomes, leaseLimit);
        for (Topic topic : topics) {
            if (topic.isOrdered()) {
                sequencers.add(new Sequencer(topic, inFlight, outcomes, pipeline, leaseLimit));
            }
        }
        claims = new ClaimLoop(scans, claimers(stores, settings), platform, events);
        localHandOver = new LocalHandOver(stores.messages(), settings, inFlight, pipeline, platform);
        localHandOver.onWork(threads.handOver::wake);
        laneBalancer = new LaneBalancer(stores.lanes(), settings, sequencers, platform, wakeUps);
        leaseExtender = new LeaseExtender(stores.messages(), inFlight, options.lease(), platform);
        housekeeper = new Housekeeper(stores, settings, inFlight, outcomes::counters, platform);
    }

    NodeLoad.TopicLoad load(Topic topic) {
        return new NodeLoad.TopicLoad(
                topic.name(),
                inFlight.slotsTaken(topic),
                inFlight.limit(topic),
                topic.isOrdered() ? sequencers.of(topic.name()).stayingLanes() : 0,
                breaker(topic).state());
    }

    private CircuitBreaker breaker(Topic topic) {
        return Objects.requireNonNull(breakers.get(topic.name()));
    }

    private <O extends LaneOutcome> OutcomeWriter<O> writer(
            OutcomeSink<O> sink, BackgroundLoop loop, EventListener events) {
        OutcomeWriter<O> writer = new OutcomeWriter<>(sink, inFlight, platform, events, afterSettlement);
        writer.onWork(loop::wake);
        return writer;
    }

    private Map<Topic, Claimer> claimers(Stores stores, NodeSettings settings) {
        Claimer rows = new RowClaimer(stores.messages(), settings, inFlight, pipeline, platform);
        Claimer lanes = new LaneClaimer(stores.lanes(), sequencers, inFlight, platform, settings.events());
        Map<Topic, Claimer> claimers = new LinkedHashMap<>();
        settings.topics().forEach(topic -> claimers.put(topic, topic.isOrdered() ? lanes : rows));
        return claimers;
    }

    private Map<TopicName, TopicDelivery> deliveries(Stores stores, NodeSettings settings, HandOver handOver) {
        DatabaseClock clock = new DatabaseClock(
                stores.lanes()::databaseTime, settings.options().lease(), platform);
        OutcomeDecider decider = new OutcomeDecider(platform::chance, clock);
        Executor senders = threads.senders();
        SafeTracing tracing = settings.tracing();
        Map<TopicName, TopicDelivery> deliveries = new HashMap<>();
        for (Topic topic : settings.topics()) {
            TopicDestination destination = topic.destination();
            if (destination instanceof TopicDestination.InTransaction inTransaction) {
                Executor handlers = handlerThreads(topic);
                HandlerDelivery.HandlerThreads ofTopic =
                        new HandlerDelivery.HandlerThreads(handlers, inCallersThread ? senders : handlers);
                HandlerDelivery.HandlerResources transactions =
                        new HandlerDelivery.HandlerResources(stores.handling(), handOver, ofTopic, tracing, platform);
                deliveries.put(
                        topic.name(), new HandlerDelivery(topic, inTransaction, transactions, decider, outcomes));
            } else if (destination instanceof TopicDestination.ByTransport by) {
                TransportDelivery.Target target = new TransportDelivery.Target(by.transport(), senders, tracing);
                deliveries.put(topic.name(), delivery(topic, target, decider));
            } else if (destination instanceof TopicDestination.ByHandler by) {
                deliveries.put(topic.name(), delivery(topic, target(topic, by, tracing), decider));
            }
        }
        return deliveries;
    }

    private TopicDelivery delivery(Topic topic, TransportDelivery.Target target, OutcomeDecider decider) {
        return new TransportDelivery(target, breaker(topic), decider, outcomes, leaseLimit);
    }

    /** The time of a handler counts from its call, so in the calling thread the call waits, not the handler. */
    private TransportDelivery.Target target(Topic topic, TopicDestination.ByHandler by, SafeTracing tracing) {
        Executor handlers = handlerThreads(topic);
        return inCallersThread
                ? new TransportDelivery.Target(
                        new HandlerTransport(topic, by.handler(), Runnable::run), handlers, tracing)
                : new TransportDelivery.Target(
                        new HandlerTransport(topic, by.handler(), handlers), Runnable::run, tracing);
    }

    private Executor handlerThreads(Topic topic) {
        return inCallersThread ? callingThread : threads.handlers(inFlight.limit(topic));
    }
}
