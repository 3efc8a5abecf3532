package dev.postrider.benchmarks.contender;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import dev.postrider.benchmarks.database.Arena;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * transaction-outbox by gruelbox. During delivery its executor runs a scheduled call right after the commit, and a thread flushes
 * other due calls. Without delivery the calls wait for a later flush.
 */
final class Gruelbox implements Contender {

    private static final String TABLE = "TXNO_OUTBOX";
    private static final int THREADS = 8;
    private static final int FLUSH = 2000;
    private static final int FILL = 1000;
    private static final long IDLE_NANOS = 5_000_000;

    private final Arena arena;
    private final ThreadLocalContextTransactionManager transactions;
    private final TransactionOutbox writing;
    private volatile @Nullable Delivering delivering;

    Gruelbox(Arena arena, DataSource dataSource) {
        this.arena = arena;
        this.transactions = TransactionManager.fromDataSource(dataSource);
        // Due after one second, the minimum. The submitter drops calls.
        this.writing = outbox(new Orders(new Receiver(0)), Duration.ofSeconds(1), (entry, run) -> {});
    }

    /** The target of the calls. Neither final nor private: a subclass made at run time records its calls. */
    public static class Orders {

        private final @Nullable Receiver receiver;

        /** For the subclass. */
        Orders() {
            receiver = null;
        }

        Orders(Receiver receiver) {
            this.receiver = receiver;
        }

        public void placed(String json) {
            if (receiver != null) {
                receiver.receive(Order.numberIn(json));
            }
        }
    }

    private TransactionOutbox outbox(Orders orders, Duration attemptFrequency, Submitter submitter) {
        return TransactionOutbox.builder()
                .transactionManager(transactions)
                .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                .instantiator(Instantiator.using(type -> orders))
                .attemptFrequency(attemptFrequency)
                .flushBatchSize(FLUSH)
                .initializeImmediately(false)
                .submitter(submitter)
                .build();
    }

    /** An executor, and a thread that flushes when the executor has room. Lives from start to stop. */
    private final class Delivering {

        private final ExecutorService workers = Executors.newFixedThreadPool(THREADS);
        private final Semaphore room = new Semaphore(2 * FLUSH);
        private final TransactionOutbox outbox;
        private final Thread flushing = new Thread(this::flush, "gruelbox-flush");
        private volatile boolean stopping;

        Delivering(Receiver receiver) {
            outbox = outbox(new Orders(receiver), Duration.ofMinutes(10), (entry, run) -> {
                room.acquireUninterruptibly();
                workers.execute(() -> {
                    try {
                        run.accept(entry);
                    } finally {
                        room.release();
                    }
                });
            });
            outbox.initialize();
            flushing.start();
        }

        private void flush() {
            while (!stopping) {
                if (room.availablePermits() < FLUSH || !outbox.flush()) {
                    LockSupport.parkNanos(IDLE_NANOS);
                }
            }
        }

        void stop() {
            stopping = true;
            try {
                flushing.join();
                workers.shutdown();
                if (!workers.awaitTermination(30, TimeUnit.SECONDS)) {
                    throw new IllegalStateException("gruelbox did not stop");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public String name() {
        return "gruelbox";
    }

    @Override
    public void prepare() {
        writing.initialize();
    }

    @Override
    public void clear() {
        arena.empty(List.of(TABLE));
    }

    @Override
    public void transact(Order order) throws SQLException {
        Delivering running = delivering;
        TransactionOutbox outbox = running == null ? writing : running.outbox;
        transactions.inTransactionThrows(transaction -> {
            order.insert(transaction.connection());
            outbox.schedule(Orders.class).placed(order.json());
        });
    }

    @Override
    public void fill(int messages) {
        for (int start = 0; start < messages; start += FILL) {
            int first = start;
            transactions.inTransaction(() -> {
                for (int number = first; number < Math.min(first + FILL, messages); number++) {
                    writing.schedule(Orders.class).placed(new Order(number).json());
                }
            });
        }
    }

    @Override
    public void start(Receiver receiver) {
        delivering = new Delivering(receiver);
    }

    @Override
    public void stop() {
        Delivering running = delivering;
        if (running != null) {
            running.stop();
            delivering = null;
        }
    }

    @Override
    public long unfinished() {
        return arena.count(TABLE);
    }

    @Override
    public void close() {
        stop();
    }
}
