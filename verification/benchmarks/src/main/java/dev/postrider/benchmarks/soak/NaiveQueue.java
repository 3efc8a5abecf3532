package dev.postrider.benchmarks.soak;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * The queue that many write first: a status column with an index. The oldest pending rows are locked and updated, updated again when
 * they are done, and removed a while later.
 */
final class NaiveQueue implements Subject {

    private static final String CREATE = """
            CREATE TABLE soak_naive (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text NOT NULL, payload bytea NOT NULL,
                created_at timestamptz NOT NULL DEFAULT clock_timestamp())
            """;

    private static final String CLAIM = """
            UPDATE soak_naive SET status = 'processing'
            WHERE id IN (SELECT id FROM soak_naive WHERE status = 'pending' ORDER BY created_at LIMIT 200 FOR UPDATE SKIP LOCKED)
            RETURNING id
            """;

    private static final String DONE = "UPDATE soak_naive SET status = 'done' WHERE id = ANY (?)";
    private static final String PURGE =
            "DELETE FROM soak_naive WHERE status = 'done' AND created_at < clock_timestamp() - interval '5 minutes'";
    private static final long IDLE_NANOS = 20_000_000;
    private static final long PURGE_EVERY_NANOS = 10_000_000_000L;
    private static final byte[] PAYLOAD = new byte[200];

    private final DataSource dataSource;
    private final TimedLooks looks;
    private final AtomicLong delivered = new AtomicLong();
    private final Thread worker = new Thread(this::work, "naive");
    private volatile boolean stopping;

    NaiveQueue(DataSource dataSource) throws SQLException {
        this.dataSource = dataSource;
        this.looks = new TimedLooks(dataSource, sql -> sql.equals(CLAIM));
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CREATE);
            statement.execute("CREATE INDEX soak_naive_status ON soak_naive (status, created_at)");
        }
    }

    @Override
    public String name() {
        return "status column";
    }

    @Override
    public String table() {
        return "soak_naive";
    }

    /** Finished messages stay in the same table. */
    @Override
    public Optional<String> history() {
        return Optional.empty();
    }

    @Override
    public void start() {
        worker.start();
    }

    @Override
    public void enqueue(int count) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert =
                        connection.prepareStatement("INSERT INTO soak_naive (status, payload) VALUES ('pending', ?)")) {
            connection.setAutoCommit(false);
            for (int i = 0; i < count; i++) {
                insert.setBytes(1, PAYLOAD);
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private void work() {
        long purged = System.nanoTime();
        try (Connection connection = looks.getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement done = connection.prepareStatement(DONE);
                PreparedStatement purge = connection.prepareStatement(PURGE)) {
            while (!stopping) {
                List<Long> ids = new ArrayList<>();
                try (ResultSet rows = claim.executeQuery()) {
                    while (rows.next()) {
                        ids.add(rows.getLong(1));
                    }
                }
                if (ids.isEmpty()) {
                    LockSupport.parkNanos(IDLE_NANOS);
                } else {
                    done.setArray(1, connection.createArrayOf("int8", ids.toArray()));
                    done.executeUpdate();
                    delivered.addAndGet(ids.size());
                }
                if (System.nanoTime() - purged > PURGE_EVERY_NANOS) {
                    purge.executeUpdate();
                    purged = System.nanoTime();
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException("The queue with a status column failed", e);
        }
    }

    @Override
    public long delivered() {
        return delivered.get();
    }

    @Override
    public List<Long> looks() {
        return looks.take();
    }

    @Override
    public void close() {
        stopping = true;
        try {
            worker.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
