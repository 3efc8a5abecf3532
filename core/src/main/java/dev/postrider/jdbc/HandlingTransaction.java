package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.HandlingStore;
import dev.postrider.store.HandlingStore.End;
import dev.postrider.store.HandlingStore.Handled;
import dev.postrider.store.HandlingStore.Item;
import dev.postrider.store.LaneClaim;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One transaction in which messages are handled and removed. The row of a message is locked before its handler is called, so that
 * nobody else can handle it as long as the transaction is open; if the connection is lost, all of it is undone by the server.
 */
final class HandlingTransaction implements HandlingStore.Transaction {

    private static final Logger log = LoggerFactory.getLogger(HandlingTransaction.class);

    private static final int VALID_WITHIN_SECONDS = 1;
    private static final int MOST_CAUSES = 20;

    /** What it works with. */
    record Means(Sessions sessions, Dialect dialect, JdbcOutbox outboxes, JdbcOptions options) {}

    private final Means means;
    private final List<Item> items;
    private final HandlingStore.Terms terms;
    private @Nullable List<Handled> answers;

    // Under the lock of this object: a connection that was given back must not be aborted
    private @Nullable Connection open;
    private Dialect.@Nullable ServerSession session;
    private boolean abandoned;

    HandlingTransaction(Means means, List<Item> items, HandlingStore.Terms terms) {
        this.means = means;
        this.items = List.copyOf(items);
        this.terms = terms;
    }

    @Override
    public List<Handled> run() {
        try {
            return means.sessions().lend(terms.timeout(), this::run);
        } catch (SQLException | RuntimeException e) {
            List<Handled> known = answers;
            if (known == null) {
                return all(End.UNDONE, e);
            }
            log.debug("A connection could not be given back after its transaction had ended", e);
            return known;
        }
    }

    private List<Handled> run(Connection connection) {
        if (!begin(connection)) {
            return all(End.UNDONE, null);
        }
        try {
            answers = items.size() == 1 ? alone(connection, items.get(0)) : together(connection);
            return answers;
        } finally {
            end();
        }
    }

    private synchronized boolean begin(Connection connection) {
        open = abandoned ? null : connection;
        return !abandoned;
    }

    /** The session of one that was given up is still to be ended; any other is the next transaction's. */
    private synchronized void end() {
        open = null;
        session = abandoned ? session : null;
    }

    private synchronized void locked(Dialect.@Nullable ServerSession by) {
        session = by;
    }

    private synchronized boolean isAbandoned() {
        return abandoned;
    }

    @Override
    public synchronized void abandon() {
        abandoned = true;
        if (open != null) {
            try {
                open.abort(Runnable::run);
            } catch (SQLException e) {
                log.debug("A connection could not be given up; its statements end with their timeout", e);
            }
        }
    }

    @Override
    public boolean endSession() {
        Dialect.ServerSession ended;
        synchronized (this) {
            ended = session;
            session = null;
        }
        if (ended == null) {
            return true;
        }
        try {
            return means.sessions().statement("end the session of a handler", connection -> {
                means.dialect().endSession(connection, ended);
                return true;
            });
        } catch (PostriderException e) {
            log.warn("The session of a handler that was given up could not be ended; it ends with its statement", e);
            return false;
        }
    }

    /** The client has lost its connection; the server may still be in the middle of a statement. */
    private boolean endIfLost(Connection connection) {
        boolean alive = isAlive(connection);
        if (!alive && !isAbandoned()) {
            endSession();
        }
        return alive;
    }

    /** Removed first: whoever else wants the message waits for the end of this transaction, and then finds it gone. */
    private List<Handled> alone(Connection connection, Item item) {
        JdbcUnitOfWork unit = unit(connection);
        boolean begun = false;
        try {
            if (remove(connection, items) == 0) {
                boolean locked =
                        !means.dialect().stillHandled(connection, rows(items)).isEmpty();
                connection.rollback();
                return all(locked ? End.LOCKED : End.LOST, null);
            }
            begun = true;
            handle(item, unit);
            checkWhole(connection);
        } catch (Throwable e) {
            unit.abandoned();
            Sessions.rollback(connection, e);
            return all(endIfLost(connection) && begun ? End.FAILED : End.UNDONE, e);
        }
        return List.of(commit(connection, List.of(item), List.of(unit)).get(0));
    }

    /** Each behind a savepoint, so that the failure of one leaves the others alone. */
    private List<Handled> together(Connection connection) {
        Map<Claim, Handled> ends = new HashMap<>();
        List<Item> done = new ArrayList<>();
        List<JdbcUnitOfWork> units = new ArrayList<>();
        try {
            Dialect.LockedRows rows = means.dialect().lockHandled(connection, rows(items), terms.timeout());
            locked(rows.session());
            Set<Long> met = rows.seqs();
            Set<Long> others =
                    met.size() == items.size() ? met : means.dialect().stillHandled(connection, rows(items));
            for (Item item : items) {
                if (!met.contains(item.claim().seq())) {
                    boolean locked = others.contains(item.claim().seq());
                    ends.put(item.claim(), new Handled(item.claim(), locked ? End.LOCKED : End.LOST, null));
                    continue;
                }
                JdbcUnitOfWork unit = unit(connection);
                Throwable failure = handleBehindSavepoint(connection, item, unit);
                if (failure != null) {
                    ends.put(item.claim(), new Handled(item.claim(), End.FAILED, failure));
                } else {
                    done.add(item);
                    units.add(unit);
                }
            }
            if (done.isEmpty()) {
                connection.rollback();
            } else {
                LockingDialect.expect(done.size(), remove(connection, done), "remove handled messages");
            }
        } catch (SQLException | RuntimeException | Error e) {
            units.forEach(JdbcUnitOfWork::abandoned);
            Sessions.rollback(connection, e);
            endIfLost(connection);
            return items.stream()
                    .map(item -> isLost(ends, item) ? ends.get(item.claim()) : undone(item, e))
                    .toList();
        }
        if (!done.isEmpty()) {
            commit(connection, done, units).forEach(handled -> ends.put(handled.claim(), handled));
        }
        return items.stream().map(item -> ends.get(item.claim())).toList();
    }

    private static boolean isLost(Map<Claim, Handled> ends, Item item) {
        Handled known = ends.get(item.claim());
        return known != null && (known.end() == End.LOST || known.end() == End.LOCKED);
    }

    private static Handled undone(Item item, Throwable failure) {
        return new Handled(item.claim(), End.UNDONE, failure);
    }

    /**
     * @return why it failed, or null
     * @throws SQLException when the failure is the whole transaction's
     */
    private @Nullable Throwable handleBehindSavepoint(Connection connection, Item item, JdbcUnitOfWork unit)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            handle(item, unit);
            connection.releaseSavepoint(
                    before); // gone with a transaction that a handler lost or ended and did not mind
            return null;
        } catch (Throwable e) {
            unit.abandoned();
            if (isConflict(e) || isMissingSavepoint(e) || isAbandoned()) {
                throw new SQLException("The transaction of several handlers is lost", e);
            }
            connection.rollback(before);
            return e;
        }
    }

    private void handle(Item item, JdbcUnitOfWork unit) throws Exception {
        Message message = Origin.original(item.claim().message());
        terms.handler().handle(item.claim(), message, new CausedUnitOfWork(unit, message));
        unit.flush();
        unit.requireWhole();
    }

    private static boolean isMissingSavepoint(Throwable thrown) {
        return thrown instanceof SQLException e && SqlErrors.isMissingSavepoint(e);
    }

    private int remove(Connection connection, List<Item> handled) throws SQLException {
        Dialect.RemovedRows removed = means.dialect()
                .removeHandled(connection, rows(handled), means.options().archive(), terms.timeout());
        locked(removed.session());
        return removed.count();
    }

    /** After a deadlock some databases begin a new transaction without being asked, and a handler may not have noticed. */
    private void checkWhole(Connection connection) throws SQLException {
        if (!means.dialect().worksInSingleStatements()
                && !means.dialect()
                        .present(
                                connection,
                                items.stream().map(item -> item.claim().seq()).toList())
                        .isEmpty()) {
            throw new SQLException("The transaction was rolled back while the handler ran, and it went on", "40001");
        }
    }

    private List<Handled> commit(Connection connection, List<Item> handled, List<JdbcUnitOfWork> units) {
        SQLException failure = null;
        End end = End.UNDONE;
        if (isAbandoned()) {
            failure = new SQLException("The transaction was given up");
            Sessions.rollback(connection, failure);
        } else {
            failure = tryToCommit(connection);
            end = failure == null ? End.DONE : failed(connection, failure, handled);
        }
        units.forEach(end == End.DONE ? JdbcUnitOfWork::committed : JdbcUnitOfWork::abandoned);
        List<Handled> ends = new ArrayList<>(handled.size());
        for (Item item : handled) {
            ends.add(new Handled(item.claim(), end, failure));
        }
        return ends;
    }

    private static @Nullable SQLException tryToCommit(Connection connection) {
        try {
            connection.commit();
            return null;
        } catch (SQLException e) {
            Sessions.rollback(connection, e);
            return e;
        }
    }

    /** An answer of the server's that is an error says that it did not commit; without an answer nobody knows. */
    private End failed(Connection connection, SQLException failure, List<Item> handled) {
        return SqlErrors.isUnavailable(failure) || !isAlive(connection) ? End.UNKNOWN : refused(handled);
    }

    /** By one of them, and which is found out by handling each alone. */
    private static End refused(List<Item> handled) {
        return handled.size() == 1 ? End.FAILED : End.UNDONE;
    }

    private JdbcUnitOfWork unit(Connection connection) {
        return new JdbcUnitOfWork(connection, means.outboxes(), means.options().stagedLimit(), terms.handOver());
    }

    private static List<Dialect.HandledRow> rows(List<Item> items) {
        return items.stream().map(HandlingTransaction::row).toList();
    }

    private static Dialect.HandledRow row(Item item) {
        Claim claim = item.claim();
        LaneClaim.Place place = item.place();
        return new Dialect.HandledRow(
                claim.seq(),
                claim.message().id().value(),
                place == null ? claim.lease().token() : null,
                place == null ? Set.of("PROCESSING") : states(place));
    }

    /** One that waits behind the head of its key becomes the head while it is in a node's hands. */
    private static Set<String> states(LaneClaim.Place place) {
        return switch (place) {
            case IN_ORDER -> Set.of("PENDING");
            case BESIDE -> Set.of("SCHEDULED");
            case IN_HELD_KEY -> Set.of("RETRY", "BLOCKED");
        };
    }

    private List<Handled> all(End end, @Nullable Throwable failure) {
        List<Handled> ends = new ArrayList<>(items.size());
        for (Item item : items) {
            ends.add(new Handled(item.claim(), end, failure));
        }
        return ends;
    }

    private boolean isAlive(Connection connection) {
        try {
            return !isAbandoned() && connection.isValid(VALID_WITHIN_SECONDS);
        } catch (SQLException e) {
            return false;
        }
    }

    /** However a framework wrapped it. */
    private static boolean isConflict(Throwable thrown) {
        Throwable cause = thrown;
        for (int i = 0; cause != null && i < MOST_CAUSES; i++) {
            if (cause instanceof SQLException e && SqlErrors.isConflict(e)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }
}
