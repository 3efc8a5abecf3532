package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Connections that break, before and after the database did what it was asked; neither side dies. */
final class CutConnectionTest {

    private static final int CUTS = 10;

    private static final String WAITING = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

    @OnAllServers
    void cutConnectionAloneMakesNoDuplicate(Engine engine) {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Node node = site.node("cut", proxy, Pace.PATIENT, delivery -> {});
            site.place(CUTS * 100);
            node.start();
            int cut = 0;
            for (int i = 1; i <= CUTS; i++) {
                int enough = i * 90;
                Await.until(() -> "delivered " + node.count(), () -> node.count() >= enough);
                cut += proxy.cut();
            }
            Await.until(() -> "waiting " + site.live(), () -> site.live().isEmpty());

            site.print("connections cut", cut + " in " + CUTS + " cuts, duplicates " + (node.count() - CUTS * 100));
            assertThat(cut).isPositive();
            assertThat(node.seen().stream().map(Node.Seen::order)).doesNotHaveDuplicates();
            assertDeliveredOnce(site, node, CUTS * 100);
        }
    }

    @OnAllServers
    void lostAnswerOfAnAcknowledgementIsNotALostLease(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Node node = site.node("unsure", proxy, Pace.PATIENT, delivery -> {});
            Future<Integer> lost = loseAcknowledgement(engine, proxy);
            site.place(5);
            node.start();
            lost.get(60, TimeUnit.SECONDS);
            Await.until(
                    () -> "waiting " + site.live(),
                    () -> node.events(Event.Delivered.class).size() == 5);

            assertDeliveredOnce(site, node, 5);
            assertThat(node.events(Event.StoreFailed.class)).isNotEmpty();
        }
    }

    @OnAllServers
    void lostAnswerOfAClaimGivesTheMessagesBackAtOnce(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Node node = site.node("unsure", proxy, Pace.PATIENT, delivery -> {});
            Future<Integer> lost = loseClaim(engine, proxy);
            site.place(5);
            node.start();
            lost.get(60, TimeUnit.SECONDS);
            long cut = System.nanoTime();
            Await.until(
                    () -> "waiting " + site.live(),
                    () -> node.events(Event.Delivered.class).size() == 5);

            long last = node.seen().stream().mapToLong(Node.Seen::nanos).max().orElseThrow();
            site.print("answer to a claim lost", "delivered " + Site.millis(last - cut) + " ms later, attempt 1");
            assertThat(Duration.ofNanos(last - cut)).isLessThan(Pace.PATIENT.lease());
            assertDeliveredOnce(site, node, 5);
        }
    }

    @OnAllServers
    void lostAnswerOfACommitLeavesOrderAndMessageTogether(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Postrider producer = Orders.configured(site.pool(site.behind(proxy)), topic -> {})
                    .build();
            Node node = site.node("receiver", Pace.PATIENT, delivery -> {});
            node.start();
            Future<Integer> lost = proxy.loseAnswerTo("INSERT INTO purchase", "COMMIT");

            assertThatThrownBy(() -> Orders.place(producer, List.of("unsure"), () -> {}))
                    .isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);
            Await.until(
                    () -> "delivered " + node.count(),
                    () -> site.archivedOrders().size() == 1);

            assertThat(site.orders()).containsExactly("unsure");
            assertDeliveredOnce(site, node, 1);
        }
    }

    @OnAllServers
    void cutBeforeTheCommitLeavesNeitherOrderNorMessage(Engine engine) {
        try (Site site = Site.on(engine)) {
            FaultyProxy proxy = site.proxy();
            Postrider producer = Orders.configured(site.pool(site.behind(proxy)), topic -> {})
                    .build();

            assertThatThrownBy(() -> Orders.place(producer, List.of("unsure"), proxy::cut))
                    .isInstanceOf(StoreUnavailableException.class);

            Await.until(() -> "open transactions", () -> site.openTransactions() == 0);
            assertThat(site.orders()).isEmpty();
            assertThat(site.live()).isEmpty();
        }
    }

    @OnAllServers
    void extensionBetweenTwoSendingsOfAnAcknowledgementDoesNotMakeItALostLease(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            site.place(1);
            FaultyProxy proxy = site.proxy();
            MessageStore store = store(site, proxy);
            Claim claim = store.claim(ClaimRequest.of(Orders.TOPIC, "unsure")).get(0);
            List<Outcome> outcomes = List.of(new Outcome.Delivered(claim));
            Future<Integer> lost = loseAcknowledgement(engine, proxy);
            assertThatThrownBy(() -> store.settle(outcomes)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);

            store.extend(List.of(claim), Duration.ofSeconds(30));

            assertThat(store.settle(outcomes)).containsExactly(new Settlement.Settled(claim));
            assertThat(store.settle(outcomes)).containsExactly(new Settlement.LeaseLost(claim, true));
        }
    }

    @OnAllServers
    void lostAnswerAfterTheOutcomesAreWrittenIsNotALostLease(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            site.place(2);
            FaultyProxy proxy = site.proxy();
            MessageStore store = store(site, proxy);
            List<Claim> claims = store.claim(ClaimRequest.of(Orders.TOPIC, "unsure"));
            site.execute("UPDATE postrider_message SET lease_token = " + anotherToken(engine) + " WHERE seq = "
                    + claims.get(1).seq());
            List<Outcome> outcomes =
                    List.of(new Outcome.Delivered(claims.get(0)), new Outcome.Delivered(claims.get(1)));
            Future<Integer> lost = proxy.loseAnswerTo("SELECT seq, id FROM ");

            assertThatThrownBy(() -> store.settle(outcomes)).isInstanceOf(StoreUnavailableException.class);
            lost.get(60, TimeUnit.SECONDS);

            assertThat(store.settle(outcomes))
                    .containsExactly(
                            new Settlement.Settled(claims.get(0)), new Settlement.LeaseLost(claims.get(1), false));
        }
    }

    @OnAllServers
    void acknowledgementThatNeverArrivedIsALostLeaseOnceAnotherHasTheMessage(Engine engine) {
        try (Site site = Site.on(engine)) {
            site.place(1);
            FaultyProxy proxy = site.proxy();
            MessageStore store = store(site, proxy);
            Claim claim = store.claim(ClaimRequest.of(Orders.TOPIC, "cut off")).get(0);
            List<Outcome> outcomes = List.of(new Outcome.Delivered(claim));
            proxy.refuse();
            proxy.cut();
            assertThatThrownBy(() -> store.settle(outcomes)).isInstanceOf(StoreUnavailableException.class);
            new DatabaseClock(site.database().dataSource()).advance(Duration.ofSeconds(31));
            Claim takenOver = site.postrider()
                    .store()
                    .claim(ClaimRequest.of(Orders.TOPIC, "other"))
                    .get(0);
            proxy.accept();

            assertThat(store.settle(outcomes)).containsExactly(new Settlement.LeaseLost(claim, false));
            assertThat(site.postrider().store().acknowledge(takenOver)).isEqualTo(new Settlement.Settled(takenOver));
        }
    }

    @OnAllServers
    void expiredLeasesThatWereTakenOverAreHandedOverThoughTheConnectionBreaksThen(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            site.place(1);
            site.postrider().store().claim(ClaimRequest.of(Orders.TOPIC, "lost"));
            new DatabaseClock(site.database().dataSource()).advance(Duration.ofSeconds(31));
            site.place(1);
            FaultyProxy proxy = site.proxy();
            MessageStore store = store(site, proxy);
            Future<Integer> lost = loseClaim(engine, proxy);

            List<Claim> first = store.claim(ClaimRequest.of(Orders.TOPIC, "unsure"));
            lost.get(60, TimeUnit.SECONDS);
            List<Claim> second = store.claim(ClaimRequest.of(Orders.TOPIC, "unsure"));

            assertThat(first).hasSize(1).allMatch(claim -> claim.attempt() == 2 && claim.crashes() == 1);
            assertThat(second).hasSize(1).allMatch(claim -> claim.attempt() == 1 && claim.crashes() == 0);
        }
    }

    /** PostgreSQL alone goes on with a statement whose client is gone; elsewhere giving back waits for the row's lock. */
    @Test
    void claimThatTakesEffectAfterItsConnectionWasGivenUpIsGivenBackToo() throws Exception {
        try (Site site = Site.on(Engine.POSTGRESQL_18);
                Connection obstacle = site.connection()) {
            site.execute("""
                    CREATE FUNCTION obstacle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW;
                    END $$""");
            site.execute("CREATE TRIGGER obstacle BEFORE UPDATE ON postrider_message FOR EACH ROW"
                    + " WHEN (OLD.state = 'PENDING' AND NEW.state = 'PROCESSING') EXECUTE FUNCTION obstacle()");
            site.place(5);
            FaultyProxy proxy = site.proxy();
            MessageStore store = store(site, proxy);
            ClaimRequest request = ClaimRequest.of(Orders.TOPIC, "unsure");
            call(obstacle, "pg_advisory_lock(4711)");
            Future<List<Claim>> claim = CompletableFuture.supplyAsync(() -> store.claim(request));
            Await.until(() -> "no claim is waiting", () -> site.count(WAITING) == 1);
            proxy.cut();
            assertThatThrownBy(() -> claim.get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
            assertThat(store.claim(request)).isEmpty(); // looked for the lost claim, too, and found nothing yet

            call(obstacle, "pg_advisory_unlock(4711)");
            List<Claim> claims = new ArrayList<>();
            Await.until(() -> "leased by no worker", () -> {
                claims.addAll(store.claim(request));
                return claims.size() == 5;
            });

            assertThat(claims).allMatch(each -> each.attempt() == 1 && each.crashes() == 0);
        }
    }

    private static void call(Connection connection, String function) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT " + function);
        }
    }

    /** Has one connection: a second one that was cut while it was idle would be returned by the pool without a check for half a second. */
    private static MessageStore store(Site site, FaultyProxy proxy) {
        HikariDataSource pool = site.pool(site.behind(proxy));
        pool.setMaximumPoolSize(1);
        return Orders.configured(pool, topic -> {}).build().store();
    }

    private static String anotherToken(Engine engine) {
        return engine == Engine.POSTGRESQL_18 ? "gen_random_uuid()" : "UNHEX('00000000000000000000000000000001')";
    }

    /** Each database finishes a claim with a statement of its own. */
    private static Future<Integer> loseClaim(Engine engine, FaultyProxy proxy) {
        String claim = "state = 'PROCESSING', attempts = ";
        return engine == Engine.POSTGRESQL_18 ? proxy.loseAnswerTo(claim) : proxy.loseAnswerTo(claim, "COMMIT");
    }

    private static Future<Integer> loseAcknowledgement(Engine engine, FaultyProxy proxy) {
        String acknowledge = "postrider_archive (";
        return engine == Engine.POSTGRESQL_18
                ? proxy.loseAnswerTo(acknowledge)
                : proxy.loseAnswerTo(acknowledge, "COMMIT");
    }

    private static void assertDeliveredOnce(Site site, Node node, int messages) {
        assertThat(node.count()).isEqualTo(messages);
        assertThat(node.seen()).allMatch(seen -> seen.attempt() == 1);
        assertThat(site.archived()).hasSize(messages);
        assertThat(site.archived().values()).allMatch(message -> message.attempts() == 1 && message.crashes() == 0);
        assertThat(node.events(Event.LeaseLost.class)).isEmpty();
        assertThat(node.events(Event.AlreadyFinished.class)).isEmpty();
        assertThat(node.events(Event.Failed.class)).isEmpty();
    }
}
