package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.event.Event;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A database that dies under load and comes back. */
final class KilledDatabaseTest {

    /** Longer than the outage, so that what the nodes hold stays theirs. */
    private static final Pace PACE = Pace.QUICK.lease(Duration.ofSeconds(45));

    private static final int CRASHES = 2;
    private static final int LOAD = 120;
    private static final long DELIVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    @OnAllServers
    void databaseKilledAndRestartedUnderLoad(Engine engine) {
        try (DatabaseServer server = Databases.startOrAbort(engine);
                Site site = Site.on(server)) {
            List<Node> nodes = List.of(node(site, "first"), node(site, "second"));
            nodes.forEach(Node::start);
            try (Producers producers = new Producers(site, 3)) {
                List<String> recoveries = new ArrayList<>();
                int held = 0;
                for (int crash = 0; crash < CRASHES; crash++) {
                    List<Integer> soFar = nodes.stream().map(Node::count).toList();
                    Await.until(() -> "no load on " + nodes, () -> bothWentOn(nodes, soFar, LOAD / 2));
                    List<Long> pauses =
                            nodes.stream().map(KilledDatabaseTest::longPauses).toList();
                    server.crash();
                    held += nodes.stream()
                            .mapToInt(KilledDatabaseTest::unacknowledged)
                            .sum();
                    Await.until(() -> "not noticed", () -> bothPausedForLong(nodes, pauses));
                    server.restart();
                    recoveries.add(recovery(nodes, System.nanoTime()));
                }
                producers.stop();
                Await.until(() -> "waiting " + site.live(), () -> site.live().isEmpty());
                check(
                        site,
                        nodes,
                        producers,
                        held + " held by the nodes at the crashes, both deliver again after " + recoveries);
            }
        }
    }

    /**
     * Without a pool, and so are the producers: what is measured is the dispatcher. A pool waits on its own after an outage,
     * HikariCP for up to 5 s.
     */
    private static Node node(Site site, String name) {
        // A delivery takes a while, so that there is always something in flight.
        return site.node(name, site.database().dataSource(), PACE, delivery -> LockSupport.parkNanos(DELIVERY_NANOS));
    }

    /** How long each node took until it delivered again something that it had claimed after the restart. */
    private static String recovery(List<Node> nodes, long restarted) {
        List<Integer> before = nodes.stream().map(Node::count).toList();
        Await.until(() -> "no delivery after the restart", () -> bothWentOn(nodes, before, 1));
        return nodes.stream()
                .map(node -> node.seen().stream()
                        .mapToLong(Node.Seen::nanos)
                        .filter(nanos -> nanos > restarted)
                        .min()
                        .orElseThrow())
                .map(nanos -> Site.millis(nanos - restarted) + " ms")
                .toList()
                .toString();
    }

    /** Delivered, and the database does not know, or the node does not know whether it does. */
    private static int unacknowledged(Node node) {
        return node.count() - node.events(Event.Delivered.class).size();
    }

    /** How often it has waited for as long as it ever does before trying again. */
    private static long longPauses(Node node) {
        return node.events(Event.StoreFailed.class).stream()
                .filter(failure ->
                        failure.doing().equals("claim") && failure.delay().compareTo(Duration.ofSeconds(1)) >= 0)
                .count();
    }

    private static boolean bothPausedForLong(List<Node> nodes, List<Long> before) {
        return longPauses(nodes.get(0)) > before.get(0) && longPauses(nodes.get(1)) > before.get(1);
    }

    private static boolean bothWentOn(List<Node> nodes, List<Integer> before, int by) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).count() < before.get(i) + by) {
                return false;
            }
        }
        return true;
    }

    private static void check(Site site, List<Node> nodes, Producers producers, String recovery) {
        Map<String, Integer> deliveries = new HashMap<>();
        nodes.forEach(node -> node.seen().forEach(seen -> deliveries.merge(seen.order(), 1, Integer::sum)));
        Map<String, Integer> attempts = new HashMap<>();
        site.archived().forEach((order, message) -> attempts.put(order, message.attempts()));
        Set<String> orders = site.orders();
        int duplicates =
                deliveries.values().stream().mapToInt(Integer::intValue).sum() - deliveries.size();
        site.print(
                "database killed and restarted under load",
                CRASHES + " crashes, " + orders.size() + " orders, " + producers.unknown.size()
                        + " not placed or not answered, " + recovery + ", duplicates " + duplicates);

        assertThat(orders).containsAll(producers.committed);
        assertThat(deliveries.keySet()).isEqualTo(orders);
        assertThat(attempts).isEqualTo(deliveries);
        assertThat(duplicates).isLessThanOrEqualTo(CRASHES * nodes.size() * PACE.inFlight());
        for (Node node : nodes) {
            assertThat(node.events(Event.Failed.class)).isEmpty();
            assertThat(node.events(Event.Buried.class)).isEmpty();
            assertThat(node.events(Event.Swept.class)).isEmpty();
        }
        Set<String> rest = new HashSet<>(producers.unknown);
        rest.addAll(producers.committed);
        assertThat(rest).containsAll(orders);
    }

    /** Threads that place one order after the other, and note what they were told about each. */
    private static final class Producers implements AutoCloseable {

        private static final long PAUSE_AFTER_ERROR = TimeUnit.MILLISECONDS.toNanos(50);

        final Queue<String> committed = new ConcurrentLinkedQueue<>();
        final Queue<String> unknown = new ConcurrentLinkedQueue<>();
        private final List<Thread> threads;
        private volatile boolean stopping;

        Producers(Site site, int count) {
            Postrider postrider =
                    Orders.configured(site.database().dataSource(), topic -> {}).build();
            threads = Stream.iterate(0, number -> number + 1)
                    .limit(count)
                    .map(number -> new Thread(() -> produce(postrider, "p" + number + "-")))
                    .toList();
            threads.forEach(Thread::start);
        }

        private void produce(Postrider postrider, String prefix) {
            for (int number = 0; !stopping; number++) {
                String order = prefix + number;
                try {
                    Orders.place(postrider, List.of(order), () -> {});
                    committed.add(order);
                } catch (SQLException | RuntimeException e) {
                    unknown.add(order);
                    LockSupport.parkNanos(PAUSE_AFTER_ERROR);
                }
            }
        }

        @Override
        public void close() {
            stop();
        }

        void stop() {
            stopping = true;
            Await.until(() -> "producers do not end", () -> threads.stream().noneMatch(Thread::isAlive));
        }
    }
}
