package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.testkit.database.Engine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Producers that die in the middle of their transactions. */
final class KilledProducerTest {

    private static final int KILLS = 10;
    private static final int LONGEST_JOURNEY = 60;
    private static final long COMMIT_NANOS = Duration.ofMillis(4).toNanos();

    @OnAllServers
    void killedDuringTheCommitOfAnEnqueue(Engine engine) {
        long seed = Long.getLong("postrider.crash.seed", System.nanoTime());
        Random random = new Random(seed);
        try (Site site = Site.on(engine)) {
            List<Child> killed = new ArrayList<>();
            Child next = site.producer("producer-0");
            for (int kill = 0; kill < KILLS; kill++) {
                Child producer = next;
                producer.await("ready", 1);
                producer.tell("produce");
                if (kill + 1 < KILLS) {
                    next = site.producer("producer-" + (kill + 1)); // gets ready meanwhile
                }
                producer.await("commits", 1 + random.nextInt(LONGEST_JOURNEY));
                LockSupport.parkNanos((long) (random.nextDouble() * COMMIT_NANOS));
                producer.kill();
                killed.add(producer);
            }
            Node survivor = site.node("survivor", Pace.PATIENT, delivery -> {});
            // What a killed client left uncommitted is rolled back when the server notices, and only then is it gone.
            Await.until(() -> "open transactions", () -> site.openTransactions() == 0);
            Set<String> orders = site.orders();
            List<String> messages = site.live();
            survivor.start();
            Await.until(() -> "waiting " + site.live().size(), () -> site.live().isEmpty());

            Set<String> intended = values(killed, "intends");
            Set<String> answered = values(killed, "committed");
            Set<String> unknown = values(killed, "commits");
            unknown.removeAll(answered);
            Set<String> unknownButThere = new HashSet<>(unknown);
            unknownButThere.retainAll(orders);
            site.print(
                    "killed during the commit of an enqueue",
                    "seed " + seed + ", " + KILLS + " kills, " + orders.size() + " orders, " + unknown.size()
                            + " killed on their way to the commit, " + unknownButThere.size() + " of them committed");
            assertThat(killed).allMatch(producer -> producer.count("failed") == 0);
            assertThat(orders).containsAll(answered);
            assertThat(intended).containsAll(orders);
            assertThat(messages).doesNotHaveDuplicates();
            assertThat(new HashSet<>(messages)).isEqualTo(orders);
            assertThat(survivor.count()).isEqualTo(orders.size());
            assertThat(new HashSet<>(
                            survivor.seen().stream().map(Node.Seen::order).toList()))
                    .isEqualTo(orders);
            assertThat(site.archived().keySet()).isEqualTo(orders);
            assertThat(unknown).isNotEmpty();
        }
    }

    private static Set<String> values(List<Child> children, String word) {
        Set<String> values = new HashSet<>();
        children.forEach(child -> child.said(word).forEach(line -> values.add(line.value())));
        return values;
    }
}
