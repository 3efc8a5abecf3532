package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Objects;

/** Nodes that die between writing a message under their own lease and taking it over. */
final class KilledAtHandOverTest {

    /** Of a writer that is killed well before its lease is over. */
    private static final Pace PACE = Pace.QUICK.lease(Duration.ofSeconds(10));

    @OnAllServers
    void killedBetweenInsertAndCommit(Engine engine) {
        try (Site site = Site.on(engine)) {
            Child writer = site.writer("writer", PACE);
            writer.await("ready", 1);
            writer.order("before");
            writer.order("lost-order");
            writer.await("written", 1);
            writer.kill();

            Node survivor = site.node("survivor", Pace.PATIENT, delivery -> {});
            survivor.start();
            // What a killed client left uncommitted is rolled back when the server notices, and only then is it gone.
            Await.until(() -> "open transactions", () -> site.openTransactions() == 0);
            site.place(1);
            Await.until(() -> "the other order", () -> site.archived().size() == 1);

            assertThat(site.live()).isEmpty();
            assertThat(site.orders()).doesNotContain("lost-order");
            assertThat(survivor.seen()).extracting(Node.Seen::order).doesNotContain("lost-order");
            assertThat(writer.count("delivered")).isZero();
        }
    }

    @OnAllServers
    void killedBetweenCommitAndHandOver(Engine engine) {
        try (Site site = Site.on(engine)) {
            Node survivor = site.node("survivor", Pace.PATIENT, delivery -> {});
            survivor.start();
            Child writer = site.writer("writer", PACE);
            writer.await("ready", 1);
            writer.order("after");
            writer.order("late-order");
            writer.await("committed", 1);
            LocalDateTime end =
                    Objects.requireNonNull(site.leaseEnds().get("late-order"), "it was written under a lease");
            writer.kill();
            assertThat(survivor.count()).as("not before the lease is over").isZero();

            Await.until(() -> "waiting " + site.live(), () -> site.live().isEmpty());

            Site.Archived archived = Objects.requireNonNull(site.archived().get("late-order"));
            assertThat(archived.deliveredAt()).isAfterOrEqualTo(end);
            assertThat(archived.attempts()).isEqualTo(1);
            assertThat(archived.crashes()).isEqualTo(1);
            assertThat(survivor.seen()).extracting(Node.Seen::attempt).containsExactly(1);
            assertThat(writer.count("delivered")).isZero();
        }
    }
}
