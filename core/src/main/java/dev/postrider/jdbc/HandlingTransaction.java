package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.jdbc.inbox.InboxEnvelope;
import dev.postrider.jdbc.outbox.CausedUnitOfWork;
import dev.postrider.jdbc.outbox.JdbcTransactions;
import dev.postrider.jdbc.outbox.JdbcUnitOfWork;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
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
 * One transaction in which messages are handled and removed. The row of a message is locked before its handler is called, so that no
 * other transaction can handle the message while this one is open. If the connection is lost, the server rolls the transaction back.
 */
final class HandlingTransaction implements HandlingStore.Transaction {

    private static final Logger log = LoggerFactory.getLogger(HandlingTransaction.class);

    private static final int VALID_WITHIN_SECONDS = 1;

    /** The objects that a transaction uses. */
    record Means(
            Sessions sessions,
            HandlingStatements statements,
            SessionStatements session,
            JdbcTransactions transactions,
            JdbcOptions.Archive archive) {}

    private final Means means;
    private final List<Item> items;
    private final HandlingStore.Terms terms;
    private @Nullable List<Handled> answers;

    // Guarded by the lock of this object: a connection that was returned to its pool must not be aborted
    private @Nullable Connection open;
    private SessionStatements.@Nullable ServerSession session;
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
            log.debug("Could not return a connection after its transaction had ended", e);
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

    /** Keeps the session of an abandoned transaction, to be ended later. Any other session may run the next transaction. */
    private synchronized void end() {
        open = null;
        session = abandoned ? session : null;
    }

    private synchronized void locked(SessionStatements.@Nullable ServerSession by) {
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
                log.debug("Could not abort a connection; its statements end with their timeout", e);
            }
        }
    }

    @Override
    public boolean endSession() {
        SessionStatements.ServerSession ended;
        synchronized (this) {
            ended = session;
            session = null;
        }
        if (ended == null) {
            return true;
        }
        try {
            return means.sessions().statement("end the session of a handler", connection -> {
                means.session().end(connection, ended);
                return true;
            });
        } catch (PostriderException e) {
            log.warn("Could not end the session of an abandoned handler; the session ends with its statement", e);
            return false;
        }
    }

    /**
     * Ends the session if the client has lost its connection: the server may still run a statement.
     *
     * @return whether the connection is alive
     */
    private boolean endIfLost(Connection connection) {
        boolean alive = isAlive(connection);
        if (!alive && !isAbandoned()) {
            endSession();
        }
        return alive;
    }

    /** The row is locked, or removed, before the handler is called: other transactions skip it until this one ends. */
    private List<Handled> alone(Connection connection, Item item) {
        JdbcUnitOfWork unit = unit(connection, item);
        boolean begun = false;
        try {
            if (!(removesFirst() ? remove(connection, items) == 1 : lock(connection))) {
                boolean locked = !means.statements()
                        .stillHandled(connection, rows(items))
                        .isEmpty();
                connection.rollback();
                return all(locked ? End.LOCKED : End.LOST, null);
            }
            begun = true;
            if (removesFirst()) {
                handle(item, unit);
            } else {
                handleAndRemove(connection, item, unit);
            }
        } catch (Throwable e) {
            unit.abandoned();
            Sessions.rollback(connection, e);
            return all(failedAt(begun, endIfLost(connection)), e);
        }
        return List.of(commit(connection, List.of(item), List.of(unit)).get(0));
    }

    /** Where a handler can lose or end the transaction without an error, its message is removed last. */
    private boolean removesFirst() {
        return means.sessions().kind().worksInSingleStatements();
    }

    private boolean lock(Connection connection) throws SQLException {
        HandlingStatements.LockedRows rows = means.statements().lockHandled(connection, rows(items), terms.timeout());
        locked(rows.session());
        return !rows.seqs().isEmpty();
    }

    private void handleAndRemove(Connection connection, Item item, JdbcUnitOfWork unit) throws Exception {
        Savepoint before = connection.setSavepoint();
        handle(item, unit);
        try {
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            throw SqlErrors.isMissingSavepoint(e) ? unit.lost(e) : e;
        }
        SqlRunner.expect(1, remove(connection, items), "remove a handled message");
    }

    private End failedAt(boolean begun, boolean isAlive) {
        if (!begun || isAbandoned()) {
            return End.UNDONE;
        }
        return isAlive ? End.FAILED : End.DISCONNECTED;
    }

    /** Handles each message behind a savepoint, so that the failure of one does not affect the others. */
    private List<Handled> together(Connection connection) {
        Map<Claim, Handled> ends = new HashMap<>();
        List<Item> done = new ArrayList<>();
        List<JdbcUnitOfWork> units = new ArrayList<>();
        try {
            HandlingStatements.LockedRows rows =
                    means.statements().lockHandled(connection, rows(items), terms.timeout());
            locked(rows.session());
            Set<Long> met = rows.seqs();
            Set<Long> others =
                    met.size() == items.size() ? met : means.statements().stillHandled(connection, rows(items));
            for (Item item : items) {
                if (!met.contains(item.claim().seq())) {
                    boolean locked = others.contains(item.claim().seq());
                    ends.put(item.claim(), new Handled(item.claim(), locked ? End.LOCKED : End.LOST, null));
                    continue;
                }
                JdbcUnitOfWork unit = unit(connection, item);
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
                SqlRunner.expect(done.size(), remove(connection, done), "remove handled messages");
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
     * @return the failure of the handler, or null
     * @throws SQLException when the whole transaction has failed
     */
    private @Nullable Throwable handleBehindSavepoint(Connection connection, Item item, JdbcUnitOfWork unit)
            throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            handle(item, unit);
            // Fails if the handler lost or ended the transaction and ignored that.
            connection.releaseSavepoint(before);
            return null;
        } catch (Throwable e) {
            unit.abandoned();
            if (SqlErrors.isCausedByConflict(e) || isMissingSavepoint(e) || isAbandoned()) {
                throw new SQLException("The transaction shared by several handlers is lost", e);
            }
            connection.rollback(before);
            return e;
        }
    }

    private void handle(Item item, JdbcUnitOfWork unit) throws Exception {
        Message message = InboxEnvelope.original(item.claim().message());
        terms.handler().handle(item.claim(), message, new CausedUnitOfWork(unit, message));
        unit.flush();
        unit.requireIntact();
    }

    private static boolean isMissingSavepoint(Throwable thrown) {
        return thrown instanceof SQLException e && SqlErrors.isMissingSavepoint(e);
    }

    private int remove(Connection connection, List<Item> handled) throws SQLException {
        HandlingStatements.RemovedRows removed =
                means.statements().removeHandled(connection, rows(handled), means.archive(), terms.timeout());
        locked(removed.session());
        return removed.count();
    }

    private List<Handled> commit(Connection connection, List<Item> handled, List<JdbcUnitOfWork> units) {
        SQLException failure = null;
        End end = End.UNDONE;
        if (isAbandoned()) {
            failure = new SQLException("The transaction was abandoned");
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

    /** An error that the server returned means that it did not commit. Without an answer the outcome is unknown. */
    private End failed(Connection connection, SQLException failure, List<Item> handled) {
        return SqlErrors.isUnavailable(failure) || !isAlive(connection) ? End.UNKNOWN : refused(handled);
    }

    /** One of several messages caused the error. Handling each of them alone finds which. */
    private static End refused(List<Item> handled) {
        return handled.size() == 1 ? End.FAILED : End.UNDONE;
    }

    private JdbcUnitOfWork unit(Connection connection, Item item) {
        return means.transactions()
                .handlingUnit(
                        connection, terms.handOver(), item.claim().message().id());
    }

    private static List<HandlingStatements.HandledRow> rows(List<Item> items) {
        return items.stream().map(HandlingTransaction::row).toList();
    }

    private static HandlingStatements.HandledRow row(Item item) {
        Claim claim = item.claim();
        LaneClaim.Place place = item.place();
        return new HandlingStatements.HandledRow(
                claim.seq(),
                claim.message().id().value(),
                place == null ? claim.lease().token() : null,
                place == null ? Set.of(RowState.PROCESSING) : states(place));
    }

    /** A message behind the head of its key may become the head while it is in flight. */
    private static Set<RowState> states(LaneClaim.Place place) {
        return switch (place) {
            case IN_ORDER -> Set.of(RowState.PENDING);
            case OUT_OF_ORDER -> Set.of(RowState.SCHEDULED);
            case IN_BLOCKED_KEY -> Set.of(RowState.RETRY, RowState.BLOCKED);
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
}
