package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A worker that was not dead. */
final class StoppedWorkerTest {

    /** Of a worker that keeps its leases until it is stopped. */
    private static final Pace PACE = Pace.QUICK.lease(Duration.ofSeconds(6));

    @OnAllServers
    void workerStoppedForTwoLeasesAndWokenChangesNothing(Engine engine) {
        try (Site site = Site.on(engine)) {
            List<String> finished = site.place(5);
            List<String> underWay = site.place(5);
            List<String> all = new ArrayList<>(finished);
            all.addAll(underWay);
            Set<String> slow = new HashSet<>(underWay);
            Gate gate = new Gate();
            gate.set(false);
            Node other = site.node("other", Pace.PATIENT, delivery -> {
                if (slow.contains(Orders.of(delivery.message()))) {
                    gate.pass();
                }
            });
            Child stopped = site.worker("stopped", PACE);
            stopped.await("ready", 1);
            stopped.order("hold");
            stopped.order("start");
            stopped.await("delivered", all.size());

            Await.until(() -> "always in a transaction", () -> freezesOutsideATransaction(stopped, site));
            long frozen = System.nanoTime();
            other.start();
            Await.until(() -> "redelivered " + other.count(), () -> other.count() == all.size());
            long redelivered = System.nanoTime();
            Await.until(
                    () -> "archived " + site.archivedOrders(),
                    () -> new HashSet<>(site.archivedOrders()).equals(new HashSet<>(finished)));
            Await.until(
                    () -> "two leases take that long",
                    () -> System.nanoTime() - frozen
                            > PACE.lease().multipliedBy(2).toNanos());
            Map<String, Site.Archived> before = site.archived();
            stopped.thaw();
            stopped.order("pass");
            Await.until(
                    () -> stopped + " reported " + stopped.count("skipped") + " and " + stopped.count("lost"),
                    () -> stopped.count("skipped") + stopped.count("lost") == all.size());

            // Five are done, five are still in the other's hands: the late outcomes touched neither.
            assertThat(stopped.said("skipped").stream().map(Child.Line::value))
                    .containsExactlyInAnyOrderElementsOf(finished);
            assertThat(stopped.said("lost").stream().map(Child.Line::value))
                    .containsExactlyInAnyOrderElementsOf(underWay);
            assertThat(stopped.count("acknowledged")).isZero();
            assertThat(site.archived()).isEqualTo(before);
            assertThat(site.live()).containsExactlyInAnyOrderElementsOf(underWay);

            gate.set(true);
            Await.until(
                    () -> "archived " + site.archivedOrders(), () -> site.live().isEmpty());
            assertThat(site.archived().keySet()).isEqualTo(new HashSet<>(all));
            assertThat(site.archived().values()).allMatch(message -> message.attempts() == 2 && message.crashes() == 1);
            assertThat(other.count()).isEqualTo(all.size());

            other.close();
            List<String> more = site.place(5);
            stopped.await("acknowledged", more.size());
            assertThat(stopped.said("acknowledged").stream().map(Child.Line::value))
                    .containsExactlyInAnyOrderElementsOf(more);
            site.print(
                    "worker stopped for two leases",
                    "redelivered " + Site.millis(redelivered - frozen) + " ms after the stop, late outcomes "
                            + stopped.count("skipped") + " skipped and " + stopped.count("lost")
                            + " lost, none written, duplicates " + all.size() + " of " + all.size() + " in flight");
        }
    }

    /** Frozen within a transaction, it would keep its rows locked and no other worker could take them over: another story. */
    private static boolean freezesOutsideATransaction(Child worker, Site site) {
        worker.freeze();
        if (site.openTransactions() == 0) {
            return true;
        }
        worker.thaw();
        return false;
    }
}
