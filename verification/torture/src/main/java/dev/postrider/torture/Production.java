package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Writes transactions, each with a row of its own and some messages. Records before each commit which messages it intends to write,
 * and after it the result. Some transactions are rolled back, some in part, and some take very long.
 */
final class Production {

    private static final int MOST_MESSAGES = 4;

    /** After one in this many transactions a deadlock is caused. */
    private static final int DEADLOCK_SHARE = 200;

    private static final int DEADLOCK_WAIT_SECONDS = 10;
    private static final Duration LONGEST_TRANSACTION = Duration.ofSeconds(10);

    /** Thrown to roll a transaction back. */
    private static final class SecondThoughts extends RuntimeException {

        private static final long serialVersionUID = 1;

        SecondThoughts() {
            super("the customer thought better of it");
        }
    }

    private final Postrider postrider;
    private final Journal journal;
    private final Pacer pacer = new Pacer();
    private final List<Load> loads = new ArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final AtomicBoolean deadlocking = new AtomicBoolean();
    private @Nullable Duration trouble;
    private volatile boolean stopping;
    private volatile CountDownLatch held = new CountDownLatch(0);

    Production(Postrider postrider, Journal journal) {
        this.postrider = postrider;
        this.journal = journal;
    }

    /** Must be called before the start: also writes to the topics that misbehave, and causes deadlocks. */
    void makeTrouble(Duration lease) {
        trouble = lease;
    }

    /** Starts threads that write to these topics at the given rate. */
    void start(String name, List<String> topics, int count, long seed) {
        Random seeds = new Random(seed);
        for (int i = 0; i < count; i++) {
            Random random = new Random(seeds.nextLong());
            Load plain = new Load(name + "-" + i, topics, random);
            Load load = trouble != null ? plain.withTrouble(trouble) : plain;
            loads.add(load);
            threads.add(Parent.daemon(name + "-" + i, () -> writeAll(load, random)));
        }
    }

    void rate(double messagesPerSecond) {
        pacer.rate(messagesPerSecond);
    }

    void scheduleNothing() {
        loads.forEach(Load::scheduleNothing);
    }

    /** Begins no further transaction, and waits for those that have begun. */
    void stop() {
        stopping = true;
        release();
        pacer.rate(Double.MAX_VALUE);
        try {
            for (Thread thread : threads) {
                thread.join(LONGEST_TRANSACTION.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void writeAll(Load load, Random random) {
        try {
            while (!stopping) {
                int count = 1 + random.nextInt(MOST_MESSAGES);
                pacer.pass(count);
                if (stopping) {
                    return;
                }
                List<Draft> drafts = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    drafts.add(load.next());
                }
                // Counters are locked in one order, so that two transactions cannot deadlock.
                drafts.sort(Comparator.comparing(Draft::counter));
                write(drafts, random);
                if (trouble != null && random.nextInt(DEADLOCK_SHARE) == 0) {
                    deadlock(random);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(List<Draft> drafts, Random random) {
        boolean rolledBack = random.nextInt(100) < 5;
        boolean inPart = random.nextInt(100) == 0;
        boolean atOnce = random.nextInt(100) < 30;
        String tx = UUID.randomUUID().toString();
        run(tx, work -> {
            insert(work.connection(), tx);
            if (inPart) {
                undone(work, tx, drafts.get(0), random);
            }
            List<Message> messages = new ArrayList<>();
            for (Draft draft : drafts) {
                messages.add(intended(work.connection(), tx, draft, true, random));
            }
            if (atOnce) {
                postrider.outbox(work.connection()).enqueueAll(messages); // as code that has only a connection
            } else {
                work.stage(messages);
            }
            if (rolledBack) {
                throw new SecondThoughts();
            }
        });
    }

    private void run(String tx, Postrider.Task<SQLException> task) {
        try {
            postrider.inTransaction(task);
            journal.write("committed", "tx", tx);
        } catch (SecondThoughts e) {
            journal.write("rolledback", "tx", tx);
        } catch (SQLException | RuntimeException e) {
            journal.write("unknown", "tx", tx, "error", e);
        }
    }

    /**
     * Writes a message and rolls it back to a savepoint. Some databases keep the lock, so the message has the first key of the
     * transaction.
     */
    private void undone(UnitOfWork work, String tx, Draft draft, Random random) throws SQLException {
        Savepoint savepoint = work.connection().setSavepoint();
        work.outbox().enqueue(intended(work.connection(), tx, draft, false, random));
        work.connection().rollback(savepoint);
    }

    /**
     * Writes at once and commits only on {@link #release}. The message's row number is old by then, and no reader may have passed it.
     * Another transaction tries to write under the same idempotency key, with a short lock timeout.
     *
     * @param which the number of the key; only these transactions use it
     */
    void hold(int which, Random random) {
        CountDownLatch mine = new CountDownLatch(1);
        held = mine;
        threads.add(Parent.daemon("hold", () -> {
            String tx = UUID.randomUUID().toString();
            String tenant = Business.tenant(which);
            Draft late = new Draft(Business.LEDGER, tenant, Business.lateKey(which), null, null, Business.PLAIN, 200);
            Draft contested =
                    new Draft(Business.NOTICES, tenant, Business.lateKey(which), tx, null, Business.PLAIN, 200);
            run(tx, work -> {
                insert(work.connection(), tx);
                work.outbox().enqueue(intended(work.connection(), tx, late, true, random));
                work.outbox().enqueue(intended(work.connection(), tx, contested, true, random));
                threads.add(Parent.daemon("go on", () -> goOnAfterAnError(contested, random)));
                try {
                    mine.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }));
    }

    /**
     * Writes under an idempotency key that an open transaction has, waits one second for the lock, ignores the error and commits. The
     * rows written before the error must not be committed without their messages.
     */
    private void goOnAfterAnError(Draft contested, Random random) {
        String tx = UUID.randomUUID().toString();
        Draft beside =
                new Draft(Business.NOTICES, contested.tenant(), contested.key(), null, null, Business.PLAIN, 200);
        AtomicReference<Exception> swallowed = new AtomicReference<>();
        try {
            postrider.inTransaction(work -> {
                Connection connection = work.connection();
                Patience patience = Patience.of(connection);
                patience.shorten(connection);
                try {
                    insert(connection, tx);
                    List<Message> messages = List.of(
                            intended(connection, tx, beside, true, random),
                            intended(connection, tx, contested, true, random));
                    postrider.outbox(connection).enqueueAll(messages);
                } catch (RuntimeException e) {
                    swallowed.set(e);
                } finally {
                    patience.restore(connection);
                }
            });
        } catch (SQLException | RuntimeException e) {
            swallowed.set(e);
        }
        if (swallowed.get() == null) {
            journal.write("committed", "tx", tx);
        } else {
            journal.write("unknown", "tx", tx, "error", swallowed.get()); // the table decides
        }
    }

    /**
     * Two transactions lock two rows in opposite order. The transaction that the database rolls back ignores the error, writes its
     * messages and commits. None of its messages may exist, since its first rows are gone.
     */
    private void deadlock(Random random) {
        if (!deadlocking.compareAndSet(false, true)) {
            return;
        }
        long pid = ProcessHandle.current().pid();
        String one = Tables.deadlock((int) (pid % Tables.DEADLOCKS), 0);
        String other = Tables.deadlock((int) (pid % Tables.DEADLOCKS), 1);
        CyclicBarrier both = new CyclicBarrier(2);
        Random theirs = new Random(random.nextLong());
        threads.add(Parent.daemon("deadlock-1", () -> swallowDeadlock(one, other, both, theirs)));
        threads.add(Parent.daemon("deadlock-2", () -> {
            swallowDeadlock(other, one, both, new Random(theirs.nextLong()));
            deadlocking.set(false);
        }));
    }

    private void swallowDeadlock(String first, String second, CyclicBarrier both, Random random) {
        String tx = UUID.randomUUID().toString();
        Draft draft = new Draft(Business.NOTICES, Business.tenant(0), "deadlock", null, null, Business.PLAIN, 200);
        run(tx, work -> {
            insert(work.connection(), tx);
            raise(work.connection(), first);
            try {
                both.await(DEADLOCK_WAIT_SECONDS, TimeUnit.SECONDS);
                raise(work.connection(), second);
            } catch (SQLException e) {
                // As code does that considers this row optional.
            } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
                throw new SecondThoughts();
            }
            work.stage(intended(work.connection(), tx, draft, true, random));
        });
    }

    void release() {
        held.countDown();
    }

    private Message intended(Connection connection, String tx, Draft draft, boolean kept, Random random)
            throws SQLException {
        String number = draft.ordered() ? Long.toString(raise(connection, draft.counter())) : "";
        Message message = draft.message(number, random);
        journal.write(
                "intended",
                "tx",
                tx,
                "id",
                message.id(),
                "topic",
                draft.topic(),
                "ordered",
                draft.ordered(),
                "tenant",
                draft.tenant(),
                "key",
                draft.key(),
                "number",
                number,
                "hash",
                Digest.of(message),
                "dedup",
                draft.dedup(),
                "deliverAt",
                message.deliverAt() == null ? null : Journal.micros(message.deliverAt()),
                "kept",
                kept);
        return message;
    }

    private static void insert(Connection connection, String tx) throws SQLException {
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO torture_transaction (tx) VALUES (?)")) {
            insert.setString(1, tx);
            insert.executeUpdate();
        }
    }

    private static long raise(Connection connection, String counter) throws SQLException {
        try (PreparedStatement update =
                        connection.prepareStatement("UPDATE torture_counter SET n = n + 1 WHERE name = ?");
                PreparedStatement select =
                        connection.prepareStatement("SELECT n FROM torture_counter WHERE name = ?")) {
            update.setString(1, counter);
            if (update.executeUpdate() != 1) {
                throw new IllegalStateException("There is no counter " + counter);
            }
            select.setString(1, counter);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
