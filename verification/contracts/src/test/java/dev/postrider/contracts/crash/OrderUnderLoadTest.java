package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.testkit.database.Engine;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Workers that come, go, die and freeze while an ordered topic is written and delivered: each key stays in order. */
final class OrderUnderLoadTest {

    private static final int ACCOUNTS = 40;
    private static final int PRODUCERS = 3;
    private static final int BACKLOG = 250;
    private static final int PHASE = 250;
    private static final Duration LONGER_THAN_A_LEASE = Duration.ofSeconds(9);

    @OnAllServers
    void everyKeyIsDeliveredInOrderWhateverHappensToTheWorkers(Engine engine) {
        long seed = Long.getLong("postrider.seed", System.nanoTime());
        try (Site site = Site.on(engine);
                LedgerReceiver receiver = new LedgerReceiver(seed)) {
            site.print("order under load", "-Dpostrider.seed=" + seed);
            Ledger.create(site, ACCOUNTS);
            List<Child> workers = new ArrayList<>();
            for (String name : List.of("frozen", "leaving", "killed", "joining")) {
                workers.add(site.ledgerWorker(name, receiver.port()));
            }
            workers.forEach(worker -> worker.await("ready", 1));
            long begun = System.nanoTime();
            try (Producers producers = new Producers(site, receiver, seed)) {
                trouble(workers, receiver, producers);
                producers.stop();
                Await.until(
                        () -> "left " + left(site) + ", " + receiver.violations(),
                        () -> site.count("SELECT COUNT(*) FROM postrider_message") == 0);
                check(site, workers, receiver, producers, System.nanoTime() - begun);
            }
        }
    }

    private static String left(Site site) {
        return site.texts(
                        "SELECT CONCAT(state, ' ', lane, ' ', seq, ' ', ordering_key) FROM postrider_message ORDER BY seq")
                + " in lanes "
                + site.texts(
                        "SELECT CONCAT(lane, ' ', COALESCE(owner, 'free'), ' ', floor) FROM postrider_lane ORDER BY lane");
    }

    private static void trouble(List<Child> workers, LedgerReceiver receiver, Producers producers) {
        Child frozen = workers.get(0);
        Child leaving = workers.get(1);
        Child killed = workers.get(2);
        Child joining = workers.get(3);
        List.of(frozen, leaving, killed).forEach(worker -> worker.order("start"));
        goOn(receiver, producers);
        joining.order("start");
        Await.until(() -> joining + " gets no lane", () -> receiver.from("joining") > 0);
        goOn(receiver, producers);
        leaving.order("stop");
        goOn(receiver, producers);
        killed.kill();
        goOn(receiver, producers);
        frozen.freeze();
        long since = System.nanoTime();
        Await.until(() -> "that takes a while", () -> System.nanoTime() - since > LONGER_THAN_A_LEASE.toNanos());
        frozen.thaw();
        goOn(receiver, producers);
    }

    private static void goOn(LedgerReceiver receiver, Producers producers) {
        int enough = receiver.total() + PHASE;
        Await.until(
                () -> "only " + receiver.total() + " of " + producers.committed + " were received, "
                        + receiver.violations() + producers.failures,
                () -> receiver.total() >= enough);
    }

    private static void check(
            Site site, List<Child> workers, LedgerReceiver receiver, Producers producers, long nanos) {
        Map<String, Integer> accepted = receiver.accepted();
        site.print(
                "order under load",
                receiver.total() + " messages of " + accepted.size() + " keys in " + Site.millis(nanos)
                        + " ms, repeated of " + "killed " + receiver.repeatedOf("killed") + ", of frozen "
                        + receiver.repeatedOf("frozen"));
        assertThat(producers.failures).isEmpty();
        assertThat(receiver.violations()).isEmpty();
        assertThat(receiver.total()).isEqualTo(producers.committed.get());
        for (int account = 0; account < ACCOUNTS; account++) {
            assertThat(accepted.getOrDefault("account-" + account, 0))
                    .as("account %s", account)
                    .isEqualTo((int) site.count("SELECT n FROM account WHERE id = " + account));
        }
        assertThat(site.count("SELECT COUNT(*) FROM postrider_archive")).isEqualTo(producers.committed.get());
        for (Child worker : workers) {
            assertThat(worker.said("late")).isEmpty();
            assertThat(worker.said("buried")).isEmpty();
            assertThat(worker.said("parked")).isEmpty();
        }
        checkRepeated(workers, receiver);
    }

    /** Each repetition follows from a delivery that was not acknowledged: the one before it, or that of a frozen worker after it. */
    private static void checkRepeated(List<Child> workers, LedgerReceiver receiver) {
        List<String> names = List.of("frozen", "leaving", "killed", "joining");
        long repeated = 0;
        long unacknowledged = 0;
        for (int i = 0; i < names.size(); i++) {
            repeated += receiver.repeatedOf(names.get(i));
            unacknowledged += receiver.from(names.get(i)) - workers.get(i).count("acknowledged");
        }
        assertThat(repeated).as("%s were not acknowledged", unacknowledged).isLessThanOrEqualTo(unacknowledged);
        assertThat(receiver.repeatedOf("leaving")).isZero();
        assertThat((long) receiver.from("leaving")).isEqualTo(workers.get(1).count("acknowledged"));
    }

    /** Threads that post as long as the workers keep up, to few accounts often and to many rarely. */
    private static final class Producers implements AutoCloseable {

        private static final long BREATH = TimeUnit.MILLISECONDS.toNanos(2);

        final AtomicInteger committed = new AtomicInteger();
        final Queue<Exception> failures = new ConcurrentLinkedQueue<>();
        private final LedgerReceiver receiver;
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean stopping;

        Producers(Site site, LedgerReceiver receiver, long seed) {
            this.receiver = receiver;
            Postrider postrider =
                    Ledger.configured(site.pool(site.database()), topic -> {}).build();
            for (int i = 0; i < PRODUCERS; i++) {
                Random random = new Random(seed + i);
                Thread thread = new Thread(() -> produce(postrider, random), "producer");
                thread.start();
                threads.add(thread);
            }
        }

        private void produce(Postrider postrider, Random random) {
            while (!stopping) {
                if (committed.get() - receiver.total() > BACKLOG) {
                    LockSupport.parkNanos(BREATH);
                    continue;
                }
                Set<Integer> accounts = new HashSet<>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    accounts.add(zipf(random));
                }
                try {
                    Ledger.post(postrider, accounts, random.nextInt(10) == 0);
                    committed.addAndGet(accounts.size());
                } catch (Ledger.SecondThoughts | TransactionConflictException e) {
                    // nothing was written
                } catch (SQLException | RuntimeException e) {
                    failures.add(e);
                    return;
                }
            }
        }

        /** The first accounts are by far the busiest. */
        private static int zipf(Random random) {
            return (int) Math.min(ACCOUNTS - 1, Math.exp(random.nextDouble() * Math.log(ACCOUNTS + 1)) - 1);
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
