package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Workers that die with messages in their hands. */
final class KilledWorkerTest {

    /** Of a worker that keeps its leases until it is killed. */
    private static final Pace PACE = Pace.QUICK.lease(Duration.ofSeconds(8));

    @OnAllServers
    void killedBetweenDeliveryAndAcknowledgement(Engine engine) {
        try (Site site = Site.on(engine)) {
            List<String> acknowledged = site.place(30);
            Child doomed = site.worker("doomed", PACE);
            Node survivor = site.node("survivor", Pace.PATIENT, delivery -> {});
            doomed.await("ready", 1);
            doomed.order("start");
            doomed.await("acknowledged", acknowledged.size());
            doomed.order("hold");
            List<String> inFlight = site.place(PACE.inFlight());
            doomed.await("delivered", acknowledged.size() + inFlight.size());

            // Each delivery was reported and none has returned: there can be no acknowledgement yet.
            long killed = doomed.kill();
            survivor.start();
            Await.until(
                    () -> "redelivered " + survivor.count(),
                    () -> site.archivedOrders().size() == 50);

            assertThat(doomed.count("acknowledged")).isEqualTo(acknowledged.size());
            assertThat(doomed.count("delivered")).isEqualTo(50);
            Set<String> delivered = new HashSet<>(acknowledged);
            survivor.seen().forEach(seen -> delivered.add(seen.order()));
            assertThat(delivered).isEqualTo(site.orders());
            assertThat(survivor.seen().stream().map(Node.Seen::order)).containsExactlyInAnyOrderElementsOf(inFlight);
            assertThat(survivor.seen()).allMatch(seen -> seen.attempt() == 2);
            assertThat(site.archived())
                    .allSatisfy((order, message) ->
                            assertThat(message.crashes()).isEqualTo(inFlight.contains(order) ? 1 : 0));
            assertThat(site.live()).isEmpty();
            long last =
                    survivor.seen().stream().mapToLong(Node.Seen::nanos).max().orElseThrow();
            site.print(
                    "killed between delivery and acknowledgement",
                    "last redelivery " + Site.millis(last - killed) + " ms after the kill, lease "
                            + PACE.lease().toMillis() + " ms, duplicates " + survivor.count() + " of "
                            + inFlight.size() + " in flight");
        }
    }

    @OnAllServers
    void killedBetweenClaimAndDelivery(Engine engine) {
        try (Site site = Site.on(engine)) {
            List<String> orders = site.place(25);
            Node survivor = site.node("survivor", Pace.PATIENT, delivery -> {});
            Child doomed = site.claimer(Pace.QUICK.lease());
            doomed.await("claimed", orders.size());
            Map<String, LocalDateTime> leaseEnds = site.leaseEnds();
            assertThat(leaseEnds.keySet()).isEqualTo(new HashSet<>(orders));

            long killed = doomed.kill();
            survivor.start();
            Await.until(
                    () -> "delivered " + survivor.count(),
                    () -> site.archivedOrders().size() == orders.size());

            assertThat(survivor.seen().stream().map(Node.Seen::order)).containsExactlyInAnyOrderElementsOf(orders);
            Map<String, Site.Archived> archived = site.archived();
            assertThat(archived.values()).allMatch(message -> message.crashes() == 1 && message.attempts() == 2);
            // Both by the database's clock.
            List<Duration> waits = archived.entrySet().stream()
                    .map(message -> Duration.between(
                            leaseEnds.getOrDefault(message.getKey(), LocalDateTime.MAX),
                            message.getValue().deliveredAt()))
                    .sorted()
                    .toList();
            long last =
                    survivor.seen().stream().mapToLong(Node.Seen::nanos).max().orElseThrow();
            site.print(
                    "killed between claim and delivery",
                    "delivered " + waits.get(0).toMillis() + " to "
                            + waits.get(waits.size() - 1).toMillis() + " ms after the end of the lease, "
                            + Site.millis(last - killed) + " ms after the kill");
            assertThat(waits).allMatch(wait -> !wait.isNegative());
            assertThat(site.live()).isEmpty();
        }
    }
}
