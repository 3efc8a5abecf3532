package dev.postrider.simulation;

import dev.postrider.admin.CommandAdmin;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.dispatch.SimulatedNode;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.SimulatedRunner;
import dev.postrider.jdbc.SimulatedDatabase;
import dev.postrider.jdbc.SimulatedOperator;
import dev.postrider.jdbc.SimulatedStores;
import dev.postrider.jdbc.SimulatedWriter;
import dev.postrider.jdbc.Weather;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.UnitOfWork;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Everything that happens in one run: who writes, who delivers, who mends, and what goes wrong. */
final class World {

    static final TopicName ORDERS = TopicName.of("orders");
    static final TopicName MAILS = TopicName.of("mails");
    static final TopicName WORK = TopicName.of("work");
    static final int MAX_ATTEMPTS = 4;
    static final Duration LEASE = Duration.ofSeconds(3);

    private static final Duration HANDLER_TIMEOUT = Duration.ofMillis(1500);
    private static final Duration HOUSEKEEPING = Duration.ofSeconds(5);
    private static final Duration OFTEN = Duration.ofSeconds(2);
    private static final Duration DEAD_RETENTION = Duration.ofMillis(100);
    /** Nothing that began in the time of trouble stands still for longer than this, or is still at work. */
    private static final Duration LAST_FREEZE = Duration.ofSeconds(20);

    private static final Duration TROUBLE = Duration.ofSeconds(12);
    private static final int MOST_TRIES = 20;
    private static final int ORDERS_ID = 1;
    private static final int MAILS_ID = 2;
    private static final int WORK_ID = 3;

    /**
     * A message as its producer meant it.
     *
     * @param place in its key, from 1; 0 on the unordered topic
     * @param beside it is scheduled, and so beside the order
     * @param poison it kills the node that sends it
     */
    record Intended(UUID id, TopicName topic, @Nullable String key, int place, boolean beside, boolean poison) {}

    private final Conductor conductor;
    private final Chance chance;
    private final Weather weather;
    private final SimulatedStores.Speech speech;
    private final SimulatedDatabase database;
    private final SimulatedWriter writer;
    private final SimulatedOperator operator;
    private final Destination destination;
    private final Callers callers;
    private final Receivers receivers;
    private final CommandAdmin commandAdmin;
    private final Misfortune misfortune;
    private final Map<UUID, Intended> intended = new HashMap<>();
    private final List<String> alarms = new ArrayList<>();
    private final List<@Nullable Node> nodes = new ArrayList<>();
    private final FailurePolicy policy;
    private final boolean holds;
    private final int keys;
    private final int together;
    private final Duration poll;
    /** Dead letters are many, and not kept. */
    private final boolean purges;

    private int hosts;
    private int writing;
    private boolean calm;
    private long calmSince;

    World(Conductor conductor, SimulatedStores.Speech speech) {
        this.conductor = conductor;
        this.chance = conductor.chance();
        this.speech = speech;
        this.misfortune = Misfortune.of(chance);
        this.purges = chance.oneIn(4);
        this.weather = misfortune.weather();
        this.database = new SimulatedDatabase(conductor, weather);
        this.writer = new SimulatedWriter(database);
        this.operator = new SimulatedOperator(database);
        this.destination = new Destination(conductor, misfortune.answers(), purges);
        this.callers = new Callers(conductor, database, this::anyNode, this::mail);
        this.commandAdmin = new SimulatedStores(database, speech, this::heard).commandAdmin();
        this.policy =
                chance.oneIn(4) ? FailurePolicy.CONTINUE : chance.oneIn(6) ? FailurePolicy.PARK : FailurePolicy.BLOCK;
        this.holds = chance.oneIn(2);
        this.keys = (int) chance.between(1, 5);
        this.poll = Duration.ofMillis(chance.between(200, 1000));
        database.declare(ORDERS, (int) chance.between(1, 4));
        database.declare(MAILS, 0);
        database.declare(WORK, (int) chance.between(0, 2));
        this.together = chance.oneIn(2) ? 1 : 3;
        this.receivers = new Receivers(conductor, database, this::anyNode, this::mail);
    }

    Map<UUID, Intended> intended() {
        return intended;
    }

    /** A message of any kind; those that the inbox has written are in no order. */
    Intended meant(UUID id) {
        Intended known = intended.get(id);
        return known == null ? new Intended(id, database.topicOf(id), null, 0, true, false) : known;
    }

    SimulatedDatabase database() {
        return database;
    }

    Destination destination() {
        return destination;
    }

    Receivers receivers() {
        return receivers;
    }

    Callers callers() {
        return callers;
    }

    Misfortune misfortune() {
        return misfortune;
    }

    FailurePolicy policy() {
        return policy;
    }

    List<String> alarms() {
        return alarms;
    }

    /** A time of trouble, and then calm, until everything is done or so much time has passed that it should be. */
    void run(Duration patience) {
        for (int i = 0; i < misfortune.nodes(); i++) {
            nodes.add(start());
        }
        int producers = (int) chance.between(1, 3);
        for (int i = 0; i < producers; i++) {
            Host host = new Host("producer-" + (i + 1));
            writing++;
            conductor.begin(host, "writes", this::produce);
        }
        if (chance.oneIn(2)) { // their commits bring numbers to the disk that would otherwise come again after a crash
            callers.begin(!misfortune.databaseFailsOver());
            receivers.begin();
        }
        conductor.begin(new Host("operator"), "mends", this::operate);
        for (int i = 0; i < nodes.size(); i++) {
            int place = i;
            conductor.begin(new Host("nemesis"), "troubles " + (i + 1), () -> trouble(place));
            if (misfortune.poisons()) {
                conductor.begin(new Host("supervisor"), "restarts " + (i + 1), () -> supervise(place));
            }
        }
        conductor.begin(new Host("nemesis"), "troubles the database", this::troubleDatabase);
        conductor.pass(TROUBLE);
        calm = true;
        calmSince = conductor.nanos();
        weather.calm();
        destination.calm();
        callers.calm();
        receivers.calm();
        operator.pause(ORDERS_ID, false);
        operator.pause(MAILS_ID, false);
        operator.pause(WORK_ID, false);
        long deadline = conductor.nanos() + patience.toNanos();
        while (conductor.nanos() < deadline && !isQuiet()) {
            conductor.pass(Duration.ofMillis(500));
        }
    }

    private boolean isQuiet() {
        return writing == 0
                && callers.unanswered() == 0
                && receivers.open() == 0
                && database.forgottenCommands(Callers.LEASE) == 0
                && nodes.stream().allMatch(node -> node != null)
                && Oracle.unfinished(database.standing(), this::meant).isEmpty();
    }

    // Nodes

    private @Nullable Node anyNode() {
        return nodes.get(chance.below(nodes.size()));
    }

    private Node start() {
        Host host = new Host("node-" + ++hosts);
        conductor.note("start " + host.name());
        DispatchOptions.Builder options = DispatchOptions.builder()
                .worker(host.name())
                .lease(LEASE)
                .pollInterval(poll)
                .batchSize(6)
                .maxInFlight(6)
                .drainTimeout(Duration.ofSeconds(2))
                .housekeepingInterval(HOUSEKEEPING);
        if (purges) {
            options.deadRetention(DEAD_RETENTION).housekeepingInterval(OFTEN);
        }
        List<Topic> topics = new ArrayList<>(receivers.topics(World::soon));
        topics.addAll(List.of(
                Topic.named(ORDERS.toString())
                        .lanes(database.lanesOf(ORDERS))
                        .onFailure(policy)
                        .blockAfterDeadLetter(holds)
                        .maxAttempts(MAX_ATTEMPTS)
                        .baseDelay(Duration.ofMillis(100))
                        .maxDelay(Duration.ofSeconds(1))
                        .deliver(destination.from(host))
                        .build(),
                Topic.named(MAILS.toString())
                        .maxAttempts(MAX_ATTEMPTS)
                        .baseDelay(Duration.ofMillis(100))
                        .maxDelay(Duration.ofSeconds(1))
                        .deliver(destination.from(host))
                        .build(),
                Topic.named(WORK.toString())
                        .lanes(database.lanesOf(WORK))
                        .onFailure(policy == FailurePolicy.PARK ? FailurePolicy.PARK : FailurePolicy.BLOCK)
                        .maxAttempts(MAX_ATTEMPTS)
                        .baseDelay(Duration.ofMillis(100))
                        .maxDelay(Duration.ofSeconds(1))
                        .handlerTimeout(HANDLER_TIMEOUT)
                        .handlerThreads(2)
                        .handlersPerTransaction(together)
                        .process((message, work) -> handle(host, message, work))
                        .build()));
        SimulatedStores stores = new SimulatedStores(database, speech, this::heard);
        SimulatedNode node = new SimulatedNode(conductor, host, stores.stores(), topics, options.build(), this::heard);
        node.start();
        Commands commands = SimulatedRunner.on(
                conductor, host, stores.commands(), stores.transactions(node.handOver()), node, this::heard);
        return new Node(node, stores, commands);
    }

    private static void soon(Topic.Builder topic) {
        topic.maxAttempts(MAX_ATTEMPTS)
                .baseDelay(Duration.ofMillis(100))
                .maxDelay(Duration.ofSeconds(1))
                .handlerTimeout(HANDLER_TIMEOUT);
    }

    /** Does something once, and now and then fails before or after, or takes longer than it may. */
    private void handle(Host host, Message message, UnitOfWork work) throws SQLException {
        boolean fails = !destination.isCalm() && chance.oneIn(8);
        boolean slow = !destination.isCalm() && chance.oneIn(12);
        if (fails || slow) {
            destination.triedInVain(message.id().value(), host);
        }
        conductor.pass(slow ? 2 * HANDLER_TIMEOUT.toNanos() : chance.between(0, 20_000) * 1000);
        database.effect(work.connection(), message.id().value());
        conductor.pass(chance.between(0, 5_000) * 1000);
        if (fails) {
            throw new IllegalStateException("not now");
        }
    }

    /** Starts another node where one was killed by what it sent. */
    private void supervise(int place) {
        while (true) {
            conductor.pass(Duration.ofMillis(300));
            Node node = nodes.get(place);
            if (node != null && node.host().isKilled()) {
                database.disconnect(node.host());
                nodes.set(place, start());
            }
        }
    }

    private void heard(Event event) {
        if (event instanceof Event.FoundLate late) {
            alarms.add("found late: " + late.count() + " of " + late.topic());
        }
        if (event instanceof Event.CommandLost && calm && conductor.nanos() - calmSince > LAST_FREEZE.toNanos()) {
            alarms.add("replaced: a command was taken from an owner who lives");
        }
        if (event instanceof Event.StoreFailed failed && failed.error().contains("no part of the simulation")) {
            alarms.add(failed.error());
        }
    }

    /** Kills, freezes and restarts one node after another, as long as there is trouble; at the end one is at work. */
    private void trouble(int place) {
        while (!calm && misfortune.nodesSuffer()) {
            conductor.pass(chance.between(200, 6_000) * 1_000_000);
            Node node = nodes.get(place);
            if (calm || node == null) {
                return;
            }
            switch (misfortune.next(chance)) {
                case KILL -> kill(place, node);
                case FREEZE -> {
                    Duration time = Duration.ofMillis(chance.between(300, 3 * LEASE.toMillis()));
                    conductor.note(node.host().name() + " stands still for " + time);
                    conductor.freeze(node.host(), time);
                }
                case CUT -> {
                    conductor.note(node.host().name() + " loses its connections");
                    database.disconnect(node.host());
                }
                case STEP -> {
                    Duration step = Duration.ofSeconds(chance.between(-3600, 3600));
                    conductor.note("the clock of " + node.host().name() + " is set by " + step);
                    node.host().stepWall(step);
                }
                case RESTART -> restart(place, node);
                case NOTHING -> {}
            }
        }
    }

    private void kill(int place, Node node) {
        conductor.note(node.host().name() + " is killed");
        node.host().kill();
        nodes.set(place, null);
        conductor.pass(chance.between(0, 300) * 1_000_000);
        database.disconnect(node.host());
        conductor.pass(chance.between(0, 4_000) * 1_000_000);
        nodes.set(place, start());
    }

    private void restart(int place, Node node) {
        conductor.note(node.host().name() + " is stopped");
        nodes.set(place, null);
        boolean[] stopped = new boolean[1];
        Signal signal = new Signal(conductor);
        conductor.begin(node.host(), "stops", () -> {
            node.engine().stop();
            stopped[0] = true;
            signal.signal();
        });
        try {
            signal.await(Duration.ofSeconds(40).toNanos());
        } catch (InterruptedException e) {
            throw new AssertionError("no thread interrupts this", e);
        }
        if (!stopped[0]) {
            alarms.add(node.host().name() + " did not stop within 40 s");
        }
        node.host().kill();
        database.disconnect(node.host());
        nodes.set(place, start());
    }

    private void troubleDatabase() {
        while (!calm && misfortune.databaseSuffers()) {
            conductor.pass(chance.between(500, misfortune.databaseFailsOver() ? 2_500 : 8_000) * 1_000_000);
            if (calm) {
                return;
            }
            if (misfortune.clockJumps() && chance.oneIn(3)) {
                database.stepClock(Duration.ofMillis(chance.between(-8_000, 8_000)));
            } else if (misfortune.databaseFailsOver() && chance.oneIn(2)) {
                database.failOver(Duration.ofMillis(chance.between(0, chance.oneIn(2) ? 100 : 2_500)));
            } else if (misfortune.databaseCrashes()) {
                database.crash(Duration.ofMillis(chance.between(0, 2_500)));
            }
        }
    }

    // Producers

    private void produce() {
        int transactions = (int) chance.between(4, 12);
        for (int i = 0; i < transactions; i++) {
            conductor.pass(chance.between(0, 2_500) * 1_000_000);
            for (int tries = 0; tries < MOST_TRIES && !isWritten(); tries++) {
                conductor.pass(chance.between(1, 100) * 1_000_000); // a caller that was cut off comes again soon
            }
        }
        writing--;
    }

    private boolean isWritten() {
        try {
            write();
            return true;
        } catch (SQLException e) {
            conductor.note("a transaction failed: " + e.getSQLState());
            return false;
        }
    }

    private void write() throws SQLException {
        SimulatedWriter.Open open = writer.begin();
        int count = (int) chance.between(1, 3);
        for (int i = 0; i < count; i++) {
            if (chance.oneIn(4)) {
                open.write(MAILS, null, place -> message(MAILS, null, 0));
            } else if (chance.oneIn(4)) {
                String key = "w" + chance.below(2);
                open.write(WORK, key, place -> message(WORK, key, place));
            } else {
                String key = "k" + chance.below(keys);
                open.write(ORDERS, key, place -> message(ORDERS, key, place));
            }
            conductor.pass(chance.oneIn(6) ? chance.between(0, 3_000_000) * 1000 : chance.between(0, 5_000) * 1000);
        }
        if (chance.oneIn(8)) {
            conductor.note("rolls back");
            open.rollback();
        } else {
            open.commit();
            ring();
        }
    }

    private void ring() {
        Node node = nodes.get(chance.below(nodes.size()));
        if (node != null && chance.oneIn(2)) {
            node.engine().wake();
        }
    }

    private Message mail() {
        return message(MAILS, null, 0);
    }

    private Message message(TopicName topic, @Nullable String key, int place) {
        UUID id = chance.id();
        boolean beside = chance.oneIn(9);
        boolean poison = misfortune.poisons() && !topic.equals(WORK) && chance.oneIn(25);
        Message.Builder builder = Message.to(topic)
                .id(new MessageId(id))
                .type("n" + place)
                .key(key)
                .occurredAt(Instant.EPOCH)
                .text("x");
        if (beside) {
            long due = database.micros() / 1000 + chance.between(-500, 4_000);
            builder.deliverAt(Instant.ofEpochMilli(due));
        }
        if (poison) {
            builder.header(Destination.POISON, "deadly");
        }
        intended.put(id, new Intended(id, topic, key, place, beside, poison));
        return builder.build();
    }

    // The operator

    private void operate() {
        int rest = purges || chance.oneIn(3) ? 200 : 3_000;
        while (!calm && misfortune.operates()) {
            conductor.pass(chance.between(rest / 10, rest) * 1_000_000);
            try {
                if (chance.oneIn(4)) {
                    operator.pause((int) chance.between(ORDERS_ID, WORK_ID), !calm && chance.oneIn(2));
                } else {
                    operator.act();
                }
                callers.resolve(commandAdmin);
            } catch (SQLException e) {
                conductor.note("the operator failed: " + e.getSQLState());
            } catch (StoreException e) {
                conductor.note("the operator failed: " + e.getMessage());
            }
        }
    }
}
