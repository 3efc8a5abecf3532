package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.inbox.Accepted;
import dev.postrider.message.Message;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** Processes that die, or lose their connection, anywhere between storing a received message and having handled it. */
final class KilledHandlerTest {

    private static final Pace PACE = Pace.QUICK.lease(DeskProgram.LEASE);

    @OnAllServers
    void killedAtEveryBoundaryAHandlerTakesEffectOnce(Engine engine) {
        Cells.run(
                places(engine, "handle", Desk.UNORDERED),
                place -> killedHandling(engine, "handle", Desk.UNORDERED, place));
    }

    @OnAllServers
    void killedAtEveryBoundaryAHandlerOfALaneTakesEffectOnce(Engine engine) {
        Cells.run(places(engine, "lane", Desk.ORDERED), place -> killedHandling(engine, "lane", Desk.ORDERED, place));
    }

    /** Those that are passed when nothing happens, each as its number and what comes next. */
    private static List<String> places(Engine engine, String what, String consumer) {
        try (Site site = site(engine)) {
            receive(site, consumer);
            Child unharmed = site.desk(0, what);
            unharmed.await("answered", 1);
            assertThat(unharmed.said("answered").get(0).value()).isEqualTo("DONE");
            List<String> places = unharmed.said("boundary").stream()
                    .map(line -> line.values().get(0) + " " + line.values().get(1))
                    .toList();
            assertThat(places)
                    .anyMatch(place -> place.matches(".*DELETE_.*FROM_postrider_message.*"))
                    .anyMatch(place -> place.contains("INTO_payment"))
                    .anyMatch(place -> place.contains("INSERT_INTO_postrider_message"))
                    .anyMatch(place -> place.endsWith(" commit"));
            // After the commit nothing is touched but the session, which is left as it was
            assertThat(places.stream().dropWhile(place -> !place.endsWith(" committed")))
                    .isNotEmpty()
                    .allMatch(place -> place.endsWith(" committed") || place.endsWith(" execute"));
            return places;
        }
    }

    private static void killedHandling(Engine engine, String what, String consumer, String place) {
        int boundary = Integer.parseInt(place.substring(0, place.indexOf(' ')));
        try (Site site = site(engine)) {
            receive(site, consumer);
            Child child = site.desk(boundary, what);
            child.await("boundary", boundary);
            child.kill();
            assertThat(child.count("answered")).as(place).isZero();

            new DatabaseClock(site.dataSource()).advance(DeskProgram.LEASE);
            AtomicInteger calls = new AtomicInteger();
            try (Postrider survivor = node(site, calls)) {
                survivor.start();
                Await.until(() -> place + ": " + site.count(Payments.COUNT), () -> isDone(site, consumer));
            }

            assertThat(site.count(Payments.COUNT)).as(place).isEqualTo(1);
            assertThat(site.live()).as(place).containsExactly("payment");
        }
    }

    @OnAllServers
    void killedAtEveryBoundaryOfReceivingNothingIsLostOrDoubled(Engine engine) {
        int count;
        try (Site site = site(engine)) {
            Child unharmed = site.desk(0, "receive");
            unharmed.await("answered", 1);
            count = unharmed.said("boundary").size();
            assertThat(count).isGreaterThan(3);
        }
        Cells.run(
                IntStream.rangeClosed(1, count).boxed().toList(), boundary -> killedReceiving(engine, boundary, count));
    }

    private static void killedReceiving(Engine engine, int boundary, int count) {
        try (Site site = site(engine)) {
            Child child = site.desk(boundary, "receive");
            child.await("boundary", boundary);
            child.kill();

            Accepted again = receive(site, Desk.UNORDERED);

            assertThat(again.fresh()).as("at " + boundary).hasSize(boundary == count ? 0 : 1);
            assertThat(site.count(waiting(Desk.UNORDERED))).as("at " + boundary).isEqualTo(1);
        }
    }

    @OnAllServers
    void frozenHandlerLosesItsTransactionAndWhatItWrote(Engine engine) {
        try (Site site = site(engine)) {
            receive(site, Desk.UNORDERED);
            Child zombie = site.desk(0, "wait");
            zombie.await("inside", 1);
            zombie.freeze();
            try (Postrider survivor = node(site, new AtomicInteger())) {
                survivor.start();
                Await.until(() -> "" + site.count(Payments.COUNT), () -> isDone(site, Desk.UNORDERED));
            }
            zombie.thaw();
            zombie.tell("go on");
            zombie.await("answered", 1);

            assertThat(zombie.said("answered").get(0).value()).isEqualTo("DISCONNECTED");
            assertThat(site.count(Payments.COUNT)).isEqualTo(1);
            assertThat(site.live()).containsExactly("payment");
        }
    }

    @OnAllServers
    void lostAnswerOfTheCommitIsFoundOutAndNothingIsDoneAgain(Engine engine) throws Exception {
        try (Site site = site(engine)) {
            FaultyProxy proxy = site.proxy();
            Queue<Event> events = new ConcurrentLinkedQueue<>();
            AtomicInteger calls = new AtomicInteger();
            Future<Integer> lost = proxy.loseAnswerTo("INSERT INTO payment", "COMMIT");
            receive(site, Desk.UNORDERED);
            try (Postrider node = node(site.pool(site.behind(proxy)), Duration.ofSeconds(30), calls, events)) {
                node.start();
                lost.get(60, TimeUnit.SECONDS);
                Await.until(() -> events.toString(), () -> events.stream().anyMatch(Event.Delivered.class::isInstance));
            }

            assertThat(calls).hasValue(1);
            assertThat(site.count(Payments.COUNT)).isEqualTo(1);
            assertThat(site.count(waiting(Desk.UNORDERED))).isZero();
            assertThat(events).noneMatch(Event.Failed.class::isInstance).noneMatch(Event.LeaseLost.class::isInstance);
        }
    }

    @OnAllServers
    void connectionThatIsCutInAHandlerCostsNoAttempt(Engine engine) {
        try (Site site = site(engine)) {
            FaultyProxy proxy = site.proxy();
            Queue<Event> events = new ConcurrentLinkedQueue<>();
            AtomicInteger calls = new AtomicInteger();
            receive(site, Desk.UNORDERED);
            try (Postrider node = Desk.configured(site.pool(site.behind(proxy)), (message, work) -> {
                        Desk.pay(message, work);
                        if (calls.incrementAndGet() == 1) {
                            proxy.cut();
                        }
                    })
                    .dispatch(options -> Pace.PATIENT.set(options, "cut"))
                    .listener(events::add)
                    .build()) {
                node.start();
                Await.until(() -> calls + " " + events, () -> isDone(site, Desk.UNORDERED));
            }

            assertThat(calls.get()).isEqualTo(2);
            assertThat(site.count(Payments.COUNT)).isEqualTo(1);
            assertThat(events).noneMatch(Event.Failed.class::isInstance);
            assertThat(site.count("SELECT attempts FROM postrider_archive WHERE topic = 'desk.pay'"))
                    .isEqualTo(1);
        }
    }

    private static boolean isDone(Site site, String consumer) {
        return site.count(waiting(consumer)) == 0 && site.count(Payments.COUNT) == 1;
    }

    private static String waiting(String consumer) {
        return "SELECT COUNT(*) FROM postrider_message WHERE topic = '" + consumer + ".pay'";
    }

    private static Site site(Engine engine) {
        Site site = Site.on(engine);
        site.execute(Payments.TABLE);
        Desk.configured(site.database().dataSource()).build().migrate();
        return site;
    }

    private static Accepted receive(Site site, String consumer) {
        Message received = Payments.received();
        try (Postrider postrider = Desk.configured(site.database().dataSource()).build()) {
            return postrider.inbox(consumer).receive(List.of(received));
        }
    }

    private static Postrider node(Site site, AtomicInteger calls) {
        return node(site.pool(site.database()), PACE.lease(), calls, new ConcurrentLinkedQueue<>());
    }

    private static Postrider node(DataSource dataSource, Duration lease, AtomicInteger calls, Queue<Event> events) {
        return Desk.configured(dataSource, (message, work) -> {
                    calls.incrementAndGet();
                    Desk.pay(message, work);
                })
                .dispatch(options -> Pace.QUICK.lease(lease).set(options, "survivor"))
                .listener(events::add)
                .build();
    }
}
