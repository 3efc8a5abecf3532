package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.GuardedConnection;
import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A connection to the simulated database. Every statement goes over a network that may lose it, or its answer, or the whole
 * connection; between what it does and its answer others have their turn.
 */
final class Session implements InvocationHandler {

    /** What a statement does on the server, in its transaction. */
    @FunctionalInterface
    interface Work<T> {
        T run(Transaction transaction) throws SQLException;
    }

    private static final long LONG_STALL = 1_000_000_000L;

    private final SimulatedDatabase database;
    private final Conductor conductor;
    private final Host host;
    private final int life;
    private final Connection connection;
    private boolean autoCommit = true;
    private boolean cut;
    private boolean atWork;

    /** A statement of the transaction has failed: it can only be rolled back, or returned from to a savepoint. */
    private boolean failed;

    private @Nullable SimulatedSql sql;
    private @Nullable Transaction transaction;
    private int savepoints;

    Session(SimulatedDatabase database, Host host) {
        this.database = database;
        this.conductor = database.conductor;
        this.host = host;
        this.life = database.life();
        this.connection = (Connection)
                Proxy.newProxyInstance(Session.class.getClassLoader(), new Class<?>[] {Connection.class}, this);
    }

    static Session of(Connection connection) {
        return (Session) Proxy.getInvocationHandler(GuardedConnection.target(connection));
    }

    Connection connection() {
        return connection;
    }

    Host host() {
        return host;
    }

    /** Understands these besides. */
    Session with(SimulatedSql statements) {
        sql = statements;
        return this;
    }

    /** The part of a connection's methods that our code uses. */
    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        return switch (method.getName()) {
            case "getAutoCommit" -> autoCommit;
            case "setAutoCommit" -> setAutoCommit((Boolean) Objects.requireNonNull(arguments)[0]);
            case "getNetworkTimeout" -> 0;
            case "getTransactionIsolation" -> Connection.TRANSACTION_READ_COMMITTED;
            case "setNetworkTimeout", "setTransactionIsolation" -> null;
            case "isClosed" -> isBroken();
            case "isReadOnly" -> false;
            case "getMetaData" -> metaData();
            case "prepareStatement" ->
                Objects.requireNonNull(sql).prepare(this, (String) Objects.requireNonNull(arguments)[0]);
            case "isValid" -> !isBroken();
            case "commit" -> commit();
            case "rollback" -> arguments == null ? rollback() : rollback((Savepoint) arguments[0]);
            case "setSavepoint" -> savepoint();
            case "releaseSavepoint" -> null;
            case "abort", "close" -> cut();
            case "unwrap" -> proxy;
            case "toString" -> "Session of " + host.name();
            case "hashCode" -> 1;
            case "equals" -> proxy == Objects.requireNonNull(arguments)[0];
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    private DatabaseMetaData metaData() {
        return SimulatedSql.proxy(DatabaseMetaData.class, (method, arguments) -> switch (method) {
            case "getURL" -> SimulatedStores.ADDRESS;
            case "getConnection" -> connection;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private @Nullable Object setAutoCommit(boolean on) {
        autoCommit = on;
        return null;
    }

    private boolean isBroken() {
        return cut || database.isDown() || life != database.life();
    }

    private void check() throws SQLException {
        if (isBroken()) {
            cut();
            throw new SQLException("the connection is lost", "08006");
        }
        if (failed) {
            throw new SQLException("current transaction is aborted", "25P02");
        }
    }

    /** Whatever is open is rolled back; what the server is at it finishes first. */
    @Nullable
    Object cut() {
        cut = true;
        failed = false;
        database.disconnected(this);
        Transaction left = transaction;
        if (left != null && !atWork) {
            database.rollback(left);
            transaction = null;
        }
        return null;
    }

    /** Sends a statement and waits for its answer. */
    <T> T run(String doing, Work<T> work) throws SQLException {
        check();
        Duration standstill = database.weather.standstill(database.chance());
        if (!standstill.isZero()) {
            conductor.note(host.name() + " stands still for " + standstill + " before it can " + doing);
            conductor.freeze(host, standstill);
        }
        Weather.Luck luck = database.weather.luck(database.chance());
        if (luck == Weather.Luck.DONE_LATER && autoCommit) {
            later(doing, work);
            cut();
            throw lost(doing, "given up; the server is still at it");
        }
        conductor.pass(database.weather.delay(database.chance()));
        check();
        if (luck == Weather.Luck.LOST_BEFORE) {
            cut();
            throw lost(doing, "did not arrive");
        }
        T answer = onServer(doing, work);
        if (luck == Weather.Luck.LOST_AFTER) {
            cut();
            throw lost(doing, "was done, but its answer is lost");
        }
        conductor.pass(database.weather.delay(database.chance()));
        check();
        return answer;
    }

    private SQLException lost(String doing, String how) {
        conductor.note(doing + ": " + how);
        return new SQLException(doing + " " + how, "08006");
    }

    private <T> void later(String doing, Work<T> work) {
        long delay = database.chance().between(1_000, 2_000_000) * 1000;
        conductor.begin(new Host("server"), "late " + doing, () -> {
            conductor.pass(delay);
            Session session = new Session(database, new Host("server"));
            try {
                if (life == database.life() && !database.isDown()) {
                    session.onServer(doing, work);
                }
            } catch (SQLException e) {
                conductor.note(doing + ": failed late");
            }
        });
    }

    private <T> T onServer(String doing, Work<T> work) throws SQLException {
        Transaction current = transaction == null ? database.begin() : transaction;
        if (!autoCommit) {
            transaction = current;
        }
        conductor.enterDatabase();
        atWork = true;
        try {
            T answer = work.run(current);
            database.check(current);
            if (autoCommit) {
                conductor.note(doing);
                database.commit(current, doing);
            } else if (cut) {
                database.rollback(current);
            }
            return answer;
        } catch (SQLException e) {
            failed = !autoCommit;
            if (autoCommit || savepoints == 0 || cut) {
                database.rollback(current);
                transaction = null;
            }
            throw e;
        } catch (RuntimeException | Error e) {
            database.rollback(current);
            transaction = null;
            throw e;
        } finally {
            atWork = false;
            conductor.leaveDatabase();
        }
    }

    private @Nullable Object commit() throws SQLException {
        Transaction current = transaction;
        if (current == null) {
            check();
            return null;
        }
        run("commit", ignored -> {
            transaction = null;
            savepoints = 0;
            conductor.note("commit");
            database.commit(current, "commit");
            return true;
        });
        return null;
    }

    private @Nullable Object rollback() {
        Transaction current = transaction;
        transaction = null;
        failed = false;
        savepoints = 0;
        if (current != null) {
            database.rollback(current);
        }
        return null;
    }

    /** What is written after it is undone by going back to it, and what was locked is free again. */
    private final class Mark implements Savepoint {

        private final List<Runnable> undo = new ArrayList<>();
        private final Set<Cell<?>> known = new LinkedHashSet<>();
        private final int effects;
        private final int before;
        private final long lockTimeout;
        private final Transaction of;

        Mark(Transaction current, int before) {
            this.of = current;
            this.before = before;
            current.locked.forEach(this::remember);
            effects = current.onCommit.size();
            lockTimeout = current.lockTimeout;
        }

        private <R> void remember(Cell<R> cell) {
            R pending = cell.pending;
            boolean changed = cell.isChanged;
            known.add(cell);
            undo.add(() -> {
                cell.pending = pending;
                cell.isChanged = changed;
            });
        }

        void goBack(Transaction current) {
            undo.forEach(Runnable::run);
            database.release(
                    current,
                    current.locked.stream()
                            .filter(cell -> !known.contains(cell))
                            .toList());
            current.onCommit.subList(effects, current.onCommit.size()).clear();
            current.lockTimeout = lockTimeout;
            savepoints = before;
        }

        @Override
        public int getSavepointId() {
            return 1;
        }

        @Override
        public String getSavepointName() {
            return "mark";
        }
    }

    private Savepoint savepoint() throws SQLException {
        check();
        Transaction current = transaction == null ? database.begin() : transaction;
        transaction = current;
        return new Mark(current, savepoints++);
    }

    private @Nullable Object rollback(Savepoint savepoint) throws SQLException {
        failed = false;
        check();
        Transaction current = transaction;
        if (current == null || ((Mark) savepoint).of != current) {
            throw new SQLException("savepoint does not exist", "3B001");
        }
        ((Mark) savepoint).goBack(current);
        return null;
    }

    /** In the middle of a statement: others may have their turn. */
    void meanwhile(Transaction current) throws SQLException {
        if (database.chance().oneIn(3)) {
            stall(current, database.weather.stall(database.chance(), 1));
        }
    }

    /** The same where it is worst: between what a statement has made sure of and what it does. */
    void meanwhileAtWorst(Transaction current) throws SQLException {
        stall(current, database.weather.stall(database.chance(), 4));
    }

    /** The same in a rare statement that finds something even more rarely. */
    void meanwhileForOnce(Transaction current) throws SQLException {
        stall(current, database.weather.rareStall(database.chance()));
    }

    private void stall(Transaction current, long nanos) throws SQLException {
        if (nanos > LONG_STALL && database.chance().oneIn(2)) {
            conductor.note(host.name() + " stands still while the database does");
            conductor.freeze(host, Duration.ofNanos(2 * nanos)); // and no thread there renews anything meanwhile
        }
        conductor.pass(nanos);
        database.check(current);
    }
}
