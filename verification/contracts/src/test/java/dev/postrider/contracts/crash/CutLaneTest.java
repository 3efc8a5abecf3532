package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.admin.Repair;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.DeliveryHandler;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;

/** Ordered topics over connections that break, before and after the database did what it was asked. */
final class CutLaneTest {

    private static final String TOPIC = "ledger";
    private static final TopicName NAME = TopicName.of(TOPIC);
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final LaneStore.Node NODE = new LaneStore.Node(UUID.randomUUID(), "unsure", Set.of(NAME));

    @OnAllServers
    void lostAnswerOfAnAcquisitionGivesTheLaneBackSoon(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            write(ledger(site), "a", 0);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Future<Integer> lost = engine == Engine.POSTGRESQL_18
                    ? proxy.loseAnswerTo("SKIP LOCKED")
                    : proxy.loseAnswerTo("SKIP LOCKED", "COMMIT");
            assertThatThrownBy(() -> acquire(store)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);
            assertThat(owned(site)).isEqualTo(1);

            Lane lane = acquire(store).get(0);

            assertThat(read(store, lane))
                    .hasSize(1)
                    .allMatch(claim -> claim.claim().crashes() == 0);
        }
    }

    @OnAllServers
    void laneWhoseBlockedKeysCouldNotBeReadIsReleasedSoon(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            write(ledger(site), "a", 0);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Future<Integer> lost = proxy.loseAnswerTo("SELECT w.lane, w.tenant, w.ordering_key");
            assertThatThrownBy(() -> acquire(store)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);
            assertThat(owned(site)).isEqualTo(1);

            store.announce(NODE, LEASE);

            assertThat(owned(site)).isZero();
        }
    }

    @OnAllServers
    void laneWhoseReleaseDidNotArriveIsReleasedSoon(Engine engine) {
        try (Site site = Site.on(engine)) {
            ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            proxy.refuse();
            proxy.cut();
            assertThatThrownBy(() -> store.release(Set.of(lane))).isInstanceOf(StoreUnavailableException.class);
            proxy.accept();
            assertThat(owned(site)).isEqualTo(1);

            Await.until(() -> "the lane was not given back", () -> connected(() -> store.announce(NODE, LEASE)));

            assertThat(owned(site)).isZero();
        }
    }

    @OnAllServers
    void lostAnswerOfAReadLosesNothingAndKeepsTheOrder(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            write(ledger, "a", 0, 1);
            List<LaneClaim> inFlight = read(store, lane);
            write(ledger, "a", 2, 3);
            Future<Integer> lost = engine == Engine.POSTGRESQL_18
                    ? proxy.loseAnswerTo("pg_snapshot_xmin")
                    : proxy.loseAnswerTo("MAX(seq)", "state = 'PENDING'");
            assertThatThrownBy(() -> read(store, lane)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);

            assertThat(numbers(read(store, lane))).containsExactly(2, 3);
            assertThat(store.settle(delivered(inFlight))).noneMatch(Settlement::isLost);
        }
    }

    @OnAllServers
    void lostAnswerOfAnOutcomeIsSentAgainAndCountsOnce(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            Map<String, Function<LaneClaim, LaneOutcome>> outcomes = Map.of(
                    "", claim -> new Outcome.Delivered(claim.claim()),
                    "RETRY 1", claim -> new Outcome.Retry(claim.claim(), Duration.ofHours(1), "busy"),
                    "SCHEDULED 1", claim -> new LaneOutcome.RetryOutOfOrder(claim.claim(), Duration.ofHours(1), "busy"),
                    "DEAD 1", claim -> new Outcome.Buried(claim.claim(), DeadReason.REJECTED, "no"),
                    "PARKED 1", claim -> new LaneOutcome.Parked(claim.claim(), DeadReason.FAILED, "no"),
                    "RETRY 0", claim -> new LaneOutcome.Blocked(claim.claim()));
            for (Map.Entry<String, Function<LaneClaim, LaneOutcome>> each : outcomes.entrySet()) {
                write(ledger, each.getKey() + "key", 0);
                LaneClaim claim = read(store, lane).get(0);
                List<LaneOutcome> sent = List.of(each.getValue().apply(claim));

                loseSettle(engine, store, proxy, sent);
                List<Settlement> settlements = store.settle(sent);

                assertThat(settlements).as(each.getKey()).noneMatch(Settlement::isLost);
                assertThat(stateOf(site, claim)).isEqualTo(each.getKey());
                assertThat(read(store, lane)).isEmpty();
            }
            assertThat(site.count("SELECT COUNT(*) FROM postrider_archive")).isEqualTo(1);
            assertThat(site.count("SELECT COUNT(*) FROM postrider_archive WHERE attempts = 1"))
                    .isEqualTo(1);
        }
    }

    /** As after a failover that lost the first message: the next one has its number, and every look has left that out. */
    @OnAllServers
    void whatHasTheNumberOfAnOutcomeWhoseAnswerWasLostIsRead(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            write(ledger, "a", 0);
            List<LaneClaim> old = read(store, lane);
            loseSettle(engine, store, proxy, delivered(old));
            write(ledger, "a", 1);
            site.execute(
                    "UPDATE postrider_message SET seq = " + old.get(0).claim().seq());
            assertThat(read(store, lane)).as("the number is in flight").isEmpty();
            store.renew(Set.of(lane), LEASE);
            assertThat(read(store, lane)).as("and the start goes past it").isEmpty();

            assertThat(store.settle(delivered(old))).noneMatch(Settlement::isLost);

            assertThat(numbers(read(store, lane))).containsExactly(1);
        }
    }

    @OnAllServers
    void lostAnswerOfTheEndOfAHeadLetsTheKeyGoOn(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            write(ledger, "a", 0, 1, 2);
            List<LaneClaim> claims = read(store, lane);
            store.settle(List.of(
                    new Outcome.Retry(claims.get(0).claim(), Duration.ZERO, "busy"),
                    new LaneOutcome.Blocked(claims.get(1).claim()),
                    new LaneOutcome.Blocked(claims.get(2).claim())));
            List<LaneClaim> waiting = store.readTimed(NAME, Set.of(lane), 10, 1000);
            assertThat(numbers(waiting)).containsExactly(0, 1, 2);
            List<LaneOutcome> sent = List.of(
                    new Outcome.Delivered(waiting.get(0).claim()),
                    new Outcome.Retry(waiting.get(1).claim(), Duration.ZERO, "busy"),
                    new Outcome.Released(waiting.get(2).claim()));

            loseSettle(engine, store, proxy, sent);
            assertThat(store.settle(sent)).noneMatch(Settlement::isLost);

            List<LaneClaim> again = store.readTimed(NAME, Set.of(lane), 10, 1000);
            assertThat(numbers(again)).containsExactly(1, 2);
            assertThat(again.get(0).claim().attempt()).isEqualTo(2);
        }
    }

    /** An outcome is of what was delivered, not of what an operator has put back since. */
    @OnAllServers
    void whatAnOperatorPutBackStaysWhenAnOutcomeIsSentAgain(Engine engine) throws Exception {
        for (boolean held : List.of(false, true)) {
            putBackStays(engine, held, claim -> new Outcome.Buried(claim.claim(), DeadReason.REJECTED, "no"));
            putBackStays(engine, held, claim -> new LaneOutcome.Parked(claim.claim(), DeadReason.FAILED, "no"));
        }
    }

    /** With a store of its own: after a lost answer PostgreSQL gets statements with a COMMIT of their own. */
    private static void putBackStays(Engine engine, boolean held, Function<LaneClaim, LaneOutcome> outcome)
            throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            write(ledger, "a", 0);
            LaneClaim claim = held ? readHeld(store, lane) : read(store, lane).get(0);
            List<LaneOutcome> sent = List.of(outcome.apply(claim));

            loseSettle(engine, store, proxy, sent);
            assertThat(ledger.admin().replay(claim.claim().message().id(), "ada"))
                    .isEqualTo(Repair.DONE);
            List<Settlement> settlements = store.settle(sent);

            assertThat(settlements).noneMatch(Settlement::isLost);
            assertThat(stateOf(site, claim)).as("%s, held %s", sent, held).isEqualTo("RETRY 0");
            List<LaneClaim> again = store.readTimed(NAME, Set.of(lane), 10, 1000);
            assertThat(again).hasSize(1);
            store.settle(delivered(again));
            assertThat(stateOf(site, claim)).isEmpty();
        }
    }

    /** It is not known then whether the operator put it back or it was never written. It waits and is tried again, which is right in both cases. */
    @OnAllServers
    void outcomeThatDidNotArriveBeforeAnOperatorChangedTheLaneLeavesTheMessageToBeTriedAgain(Engine engine)
            throws Exception {
        try (Site site = Site.on(engine)) {
            Postrider ledger = ledger(site);
            FaultyProxy proxy = site.proxy();
            LaneStore store = store(site, proxy);
            Lane lane = acquire(store).get(0);
            write(ledger, "other", 0);
            LaneClaim other = read(store, lane).get(0);
            store.settle(List.of(new LaneOutcome.Parked(other.claim(), DeadReason.FAILED, "no")));
            write(ledger, "a", 1);
            LaneClaim claim = readHeld(store, lane);
            List<LaneOutcome> sent = List.of(new Outcome.Buried(claim.claim(), DeadReason.REJECTED, "no"));
            proxy.refuse();
            proxy.cut();
            assertThatThrownBy(() -> store.settle(sent)).isInstanceOf(StoreUnavailableException.class);
            proxy.accept();
            ledger.admin().discard(other.claim().message().id(), "ada");
            List<Settlement> settlements = new ArrayList<>();
            Await.until(() -> "not settled", () -> connected(() -> settlements.addAll(store.settle(sent))));

            assertThat(settlements).hasSize(1).noneMatch(Settlement::isLost);

            assertThat(stateOf(site, claim)).isEqualTo("RETRY 1");
            List<LaneClaim> again = store.readTimed(NAME, Set.of(lane), 10, 1000);
            assertThat(numbers(again)).containsExactly(1);
            store.settle(List.of(new Outcome.Buried(again.get(0).claim(), DeadReason.REJECTED, "no")));
            assertThat(stateOf(site, claim)).isEqualTo("DEAD 2");
        }
    }

    /** As after a failover that lost a commit: its number is in flight, and comes again, for a message of another lane. */
    @OnAllServers
    void messageWithTheNumberOfOneInFlightIsReadOnceThatIsNoLonger(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Postrider postrider = configured(site.database().dataSource(), topic -> topic.lanes(2))
                    .build();
            postrider.migrate();
            LaneStore store = store(site, proxy);
            Map<Lane, Integer> room = new HashMap<>();
            store.acquire(new Lane.Request(NAME, "unsure", 2, Lane.Supply.FREE, LEASE))
                    .forEach(lane -> room.put(lane, 100));
            write(postrider, "a", 0);
            LaneClaim lost = store.read(NAME, room, 1000).get(0);
            String lane = "SELECT lane FROM postrider_message";
            long itsLane = site.count(lane);
            char other = 'a';
            do {
                site.execute("DELETE FROM postrider_message");
                write(postrider, String.valueOf(++other), 1);
            } while (site.count(lane) == itsLane);
            site.execute("UPDATE postrider_message SET seq = " + lost.claim().seq());
            proxy.cut();

            for (int number = 2; number < 6; number++) {
                write(postrider, "a", number);
                List<LaneClaim> claims = new ArrayList<>();
                Await.until(
                        () -> "not connected again",
                        () -> connected(() -> claims.addAll(store.read(NAME, room, 1000))));
                assertThat(numbers(claims)).containsExactly(number);
                store.settle(List.of(new Outcome.Delivered(claims.get(0).claim())));
            }
            store.settle(List.of(new Outcome.Retry(lost.claim(), Duration.ZERO, "busy")));

            assertThat(numbers(store.read(NAME, room, 1000))).containsExactly(1);
        }
    }

    @OnAllServers
    void cutConnectionsKeepTheOrderAndMakeNoDuplicate(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Queue<String> received = new ConcurrentLinkedQueue<>();
            Queue<Event> events = new ConcurrentLinkedQueue<>();
            DeliveryHandler handler = delivery -> {
                int number = number(delivery.message());
                if (number % 7 == 0 && delivery.attempt() == 1) {
                    throw new IllegalStateException("busy");
                }
                received.add(delivery.message().key() + " " + number);
            };
            try (Postrider node = configured(
                            site.pool(site.behind(proxy)),
                            topic -> topic.lanes(4)
                                    .retry(RetryPolicy.constant(Duration.ofMillis(20)))
                                    .deliver(handler))
                    .dispatch(options -> Pace.QUICK.lease(LEASE).set(options, "cut"))
                    .listener(events::add)
                    .build()) {
                node.migrate();
                for (int number = 0; number < 60; number++) {
                    for (String key : List.of("a", "b", "c", "d", "e")) {
                        write(node, key, number);
                    }
                }
                node.start();
                int cut = 0;
                for (int i = 1; i <= 8; i++) {
                    int enough = i * 30;
                    Await.until(() -> "received " + received.size(), () -> received.size() >= enough);
                    cut += proxy.cut();
                }
                Await.until(
                        () -> "waiting " + site.live().size(), () -> site.live().isEmpty());
                site.print("connections of an ordered topic cut", cut + " connections");
            }

            for (String key : List.of("a", "b", "c", "d", "e")) {
                List<String> expected = new ArrayList<>();
                for (int number = 0; number < 60; number++) {
                    expected.add(key + " " + number);
                }
                assertThat(received.stream()
                                .filter(each -> each.startsWith(key))
                                .toList())
                        .isEqualTo(expected);
            }
            assertThat(events).noneMatch(Event.LeaseLost.class::isInstance);
            assertThat(events).noneMatch(Event.AlreadyFinished.class::isInstance);
            assertThat(events).noneMatch(Event.FoundLate.class::isInstance);
        }
    }

    // Helpers

    private static void loseSettle(Engine engine, LaneStore store, FaultyProxy proxy, List<LaneOutcome> outcomes)
            throws Exception {
        Future<Integer> lost = engine == Engine.POSTGRESQL_18
                ? proxy.loseAnswerTo("WITH fence")
                : proxy.loseAnswerTo("SELECT lane, token, revision", "COMMIT");
        assertThatThrownBy(() -> store.settle(outcomes)).isInstanceOf(StoreUnavailableException.class);
        lost.get(60, TimeUnit.SECONDS);
    }

    private static PostriderBuilder configured(DataSource dataSource, Consumer<Topic.Builder> topic) {
        return Postrider.on(dataSource).topic(TOPIC, declared -> topic.accept(declared.ordered()));
    }

    private static Postrider ledger(Site site) {
        Postrider postrider = configured(site.database().dataSource(), topic -> topic.lanes(1))
                .build();
        postrider.migrate();
        return postrider;
    }

    private static LaneStore store(Site site, FaultyProxy proxy) {
        return JdbcDatabase.open(
                        site.pool(site.behind(proxy)), TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .lanes();
    }

    /** The pool may give out another connection that was cut. */
    private static boolean connected(Runnable work) {
        try {
            work.run();
            return true;
        } catch (StoreUnavailableException e) {
            return false;
        }
    }

    private static List<Lane> acquire(LaneStore store) {
        return store.acquire(new Lane.Request(NAME, "unsure", 1, Lane.Supply.FREE, LEASE));
    }

    private static List<LaneClaim> read(LaneStore store, Lane lane) {
        return store.read(NAME, Map.of(lane, 100), 1000);
    }

    /** The only message to be read, which has failed once and so holds its key. */
    private static LaneClaim readHeld(LaneStore store, Lane lane) {
        store.settle(List.of(new Outcome.Retry(read(store, lane).get(0).claim(), Duration.ZERO, "busy")));
        return store.readTimed(NAME, Set.of(lane), 10, 1000).get(0);
    }

    private static long owned(Site site) {
        return site.count("SELECT COUNT(*) FROM postrider_lane WHERE owner IS NOT NULL");
    }

    private static void write(Postrider postrider, String key, int... numbers) throws SQLException {
        postrider.inTransaction(work -> {
            for (int number : numbers) {
                work.stage(Message.to(TOPIC)
                        .type("x")
                        .key(key)
                        .text(Integer.toString(number))
                        .build());
            }
        });
    }

    private static int number(Message message) {
        return Integer.parseInt(message.payload().asText());
    }

    private static List<Integer> numbers(List<LaneClaim> claims) {
        return claims.stream().map(claim -> number(claim.claim().message())).toList();
    }

    private static List<LaneOutcome> delivered(List<LaneClaim> claims) {
        return claims.stream()
                .<LaneOutcome>map(claim -> new Outcome.Delivered(claim.claim()))
                .toList();
    }

    /** Empty when it is gone. */
    private static String stateOf(Site site, LaneClaim claim) {
        return Objects.requireNonNullElse(
                site.text("SELECT CONCAT(state, ' ', attempts) FROM postrider_message WHERE seq = "
                        + claim.claim().seq()),
                "");
    }
}
