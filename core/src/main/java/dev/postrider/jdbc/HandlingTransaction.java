package dev.postrider.jdbc;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.HandlingStore.End;
import dev.postrider.internal.store.HandlingStore.HandlingResult;
import dev.postrider.internal.store.HandlingStore.Item;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.StorageOptions;
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
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
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
            StorageOptions options) {}

    private final Means means;
    private final Set<TopicName> removedLast;
    private final List<Item> items;
    private final HandlingStore.Terms terms;
    private @Nullable List<HandlingResult> answers;

    // Guarded by the lock of this object: a connection that was returned to its pool must not be aborted
    private @Nullable Connection open;
    private SessionStatements.@Nullable ServerSession session;
    private boolean abandoned;

    /** Whether the handler has run a statement that could end the transaction. Used by the thread that runs the transaction. */
    private boolean ranUnclear;

    /**
     * @param removedLast the topics whose messages are removed after their handler, because a handler has run a statement that could end
     *     the transaction; the transactions of a store share it
     */
    HandlingTransaction(Means means, Set<TopicName> removedLast, List<Item> items, HandlingStore.Terms terms) {
        this.means = means;
        this.removedLast = removedLast;
        this.items = List.copyOf(items);
        this.terms = terms;
    }

    @Override
    public List<HandlingResult> run() {
        try {
            return means.sessions().lend(terms.timeout(), this::run);
        } catch (SQLException | RuntimeException e) {
            List<HandlingResult> known = answers;
            if (known == null) {
                return all(End.UNDONE, e);
            }
            log.debug("Could not return a connection after its transaction had ended", e);
            return known;
        }
    }

    private List<HandlingResult> run(Connection connection) {
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

    /**
     * The row is locked, or removed, before the handler is called: other transactions skip it until this one ends. If the handler turns out
     * to run a statement that could end the transaction, the message must not be removed before: the transaction is rolled back, and the
     * handler is called again.
     */
    private List<HandlingResult> alone(Connection connection, Item item) {
        boolean removesFirst = removesFirst(item);
        List<HandlingResult> handled = alone(connection, item, removesFirst);
        boolean again = ranUnclear && handled.get(0).end() == End.FAILED;
        return removesFirst && again ? alone(connection, item, false) : handled;
    }

    private List<HandlingResult> alone(Connection connection, Item item, boolean removesFirst) {
        JdbcUnitOfWork unit = unit(connection, item);
        boolean begun = false;
        try {
            if (!(removesFirst ? remove(connection, items) == 1 : lock(connection))) {
                boolean locked = !means.statements()
                        .stillHandled(connection, rows(items))
                        .isEmpty();
                connection.rollback();
                return all(locked ? End.LOCKED : End.LOST, null);
            }
            begun = true;
            if (removesFirst) {
                handleRemoved(item, unit);
            } else {
                handleAndRemove(connection, item, unit);
            }
        } catch (Throwable e) {
            unit.abandoned();
            PostriderException ended = begun ? unit.ended() : null;
            Sessions.rollbackOrAbort(connection, e);
            return all(failedAt(begun, endIfLost(connection)), ended == null ? e : because(ended, e));
        }
        return List.of(commit(connection, List.of(item), List.of(unit)).get(0));
    }

    private static PostriderException because(PostriderException ended, Throwable thrown) {
        if (ended != thrown) {
            ended.addSuppressed(thrown);
        }
        return ended;
    }

    /** Where a handler can lose or end the transaction without an error, its message is removed last. */
    private boolean removesFirst(Item item) {
        return means.sessions().kind().worksInSingleStatements()
                && !removedLast.contains(item.claim().message().topic());
    }

    /** If a statement ended the transaction, the removal would be committed whether the handler succeeds or not. */
    private void handleRemoved(Item item, JdbcUnitOfWork unit) throws Exception {
        TopicName topic = item.claim().message().topic();
        unit.beforeUnclear(() -> {
            ranUnclear = true;
            removedLast.add(topic);
            throw couldEnd();
        });
        handle(item, unit);
        if (ranUnclear) {
            throw couldEnd();
        }
    }

    private static SQLException couldEnd() {
        return new SQLException(
                "The statement could end the transaction: the handler is called again, and its message is removed last",
                "40001");
    }

    private boolean lock(Connection connection) throws SQLException {
        HandlingStatements.LockedRows rows = means.statements().lockHandled(connection, rows(items), terms.timeout());
        locked(rows.session());
        return !rows.seqs().isEmpty();
    }

    private void handleAndRemove(Connection connection, Item item, JdbcUnitOfWork unit) throws Exception {
        Savepoint before = connection.setSavepoint();
        handle(item, unit);
        release(connection, before, unit);
        SqlRunner.expect(1, remove(connection, items), "remove a handled message");
    }

    private End failedAt(boolean begun, boolean isAlive) {
        if (!begun || isAbandoned()) {
            return End.UNDONE;
        }
        return isAlive ? End.FAILED : End.DISCONNECTED;
    }

    /** The progress of a transaction with several messages. */
    private static final class HandlingProgress {
        final Map<Claim, HandlingResult> ends = new HashMap<>();
        final List<Item> done = new ArrayList<>();
        final List<JdbcUnitOfWork> units = new ArrayList<>();

        /** The messages that were removed early: in the same transaction as their effects, before a statement that could end it. */
        Set<Item> removed = new HashSet<>();

        void end(Item item, End end, @Nullable Throwable failure) {
            ends.put(item.claim(), new HandlingResult(item.claim(), end, failure));
        }

        /** The transaction is rolled back. */
        void undo() {
            ends.values().removeIf(handled -> handled.end() != End.LOST && handled.end() != End.LOCKED);
            done.clear();
        }

        /**
         * The handler of this item has ended the transaction, with a commit or with a rollback. A removed message has the same fate as its
         * effect, which the caller finds out. The effect of another message may be committed, so it must not be repeated.
         */
        void ended(Item culprit, Throwable failure) {
            done.forEach(item -> end(item, removed.contains(item) ? End.UNKNOWN : End.FAILED, failure));
            end(culprit, End.FAILED, failure);
            done.clear();
        }
    }

    /** Handles each message behind a savepoint, so that the failure of one does not affect the others. */
    private List<HandlingResult> together(Connection connection) {
        HandlingProgress progress = new HandlingProgress();
        Throwable failure = null;
        try {
            handleAll(connection, progress);
        } catch (SQLException | RuntimeException | Error e) {
            failure = e;
            progress.units.forEach(JdbcUnitOfWork::abandoned);
            Sessions.rollbackOrAbort(connection, e);
            endIfLost(connection);
            if (!(e instanceof TransactionEndedException)) {
                progress.undo();
            }
        }
        if (!progress.done.isEmpty()) {
            commit(connection, progress.done, progress.units)
                    .forEach(handled -> progress.ends.put(handled.claim(), handled));
        }
        Throwable reason = failure;
        return items.stream()
                .map(item ->
                        progress.ends.getOrDefault(item.claim(), new HandlingResult(item.claim(), End.UNDONE, reason)))
                .toList();
    }

    /** A handler has ended the transaction that it shares with others. */
    private static final class TransactionEndedException extends SQLException {

        private static final long serialVersionUID = 1;

        TransactionEndedException(PostriderException cause) {
            super("A handler has ended the transaction that several handlers share", cause);
        }
    }

    private void handleAll(Connection connection, HandlingProgress progress) throws SQLException {
        HandlingStatements.LockedRows rows = means.statements().lockHandled(connection, rows(items), terms.timeout());
        locked(rows.session());
        Set<Long> met = rows.seqs();
        Set<Long> others = met.size() == items.size() ? met : means.statements().stillHandled(connection, rows(items));
        for (Item item : items) {
            if (met.contains(item.claim().seq())) {
                handleBehindSavepoint(connection, item, progress);
            } else {
                progress.end(item, others.contains(item.claim().seq()) ? End.LOCKED : End.LOST, null);
            }
        }
        if (progress.done.isEmpty()) {
            connection.rollback();
            return;
        }
        // A handler that returned to a savepoint of its own may have brought back what was removed early.
        List<Item> left = progress.removed.isEmpty() ? progress.done : still(connection, progress.done);
        if (!left.isEmpty()) {
            SqlRunner.expect(left.size(), remove(connection, left), "remove handled messages");
        }
    }

    private List<Item> still(Connection connection, List<Item> handled) throws SQLException {
        Set<Long> there = means.statements().stillHandled(connection, rows(handled));
        return handled.stream()
                .filter(item -> there.contains(item.claim().seq()))
                .toList();
    }

    /** Removes the messages that are handled, so that they are committed with their effects if the next statement commits. */
    private void removeEarly(Connection connection, HandlingProgress progress) throws SQLException {
        List<Item> left = progress.done.stream()
                .filter(item -> !progress.removed.contains(item))
                .toList();
        if (!left.isEmpty()) {
            SqlRunner.expect(left.size(), remove(connection, left), "remove handled messages");
            progress.removed.addAll(left);
        }
    }

    /** @throws SQLException when the whole transaction has failed */
    private void handleBehindSavepoint(Connection connection, Item item, HandlingProgress progress)
            throws SQLException {
        JdbcUnitOfWork unit = unit(connection, item);
        unit.beforeUnclear(() -> removeEarly(connection, progress));
        Set<Item> removedBefore = new HashSet<>(progress.removed);
        Savepoint before = connection.setSavepoint();
        try {
            handle(item, unit);
            // Fails if the handler lost or ended the transaction and ignored that.
            release(connection, before, unit);
            progress.done.add(item);
            progress.units.add(unit);
        } catch (Throwable e) {
            unit.abandoned();
            PostriderException ended = unit.ended();
            if (ended == null && (SqlErrors.isCausedByConflict(e) || isAbandoned())) {
                throw new SQLException("The transaction shared by several handlers is lost", e);
            }
            if (ended == null) {
                ended = undo(connection, before, unit);
            }
            if (ended != null) {
                progress.ended(item, because(ended, e));
                throw new TransactionEndedException(ended);
            }
            progress.removed = removedBefore;
            progress.end(item, End.FAILED, e);
        }
    }

    /** @return an error if the handler has ended the transaction, so that there is nothing to return to */
    private static @Nullable PostriderException undo(Connection connection, Savepoint before, JdbcUnitOfWork unit)
            throws SQLException {
        try {
            connection.rollback(before);
            return null;
        } catch (SQLException e) {
            if (SqlErrors.isMissingSavepoint(e)) {
                unit.lost(e);
            }
            if (unit.ended() == null) {
                throw e;
            }
            return unit.ended();
        }
    }

    private static void release(Connection connection, Savepoint before, JdbcUnitOfWork unit) throws SQLException {
        try {
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            if (SqlErrors.isMissingSavepoint(e)) {
                throw unit.lost(e);
            }
            throw e;
        }
    }

    private void handle(Item item, JdbcUnitOfWork unit) throws Exception {
        Message message = InboxEnvelope.original(item.claim().message());
        terms.handler().handle(item.claim(), message, new CausedUnitOfWork(unit, message));
        unit.flush();
        unit.requireIntact();
    }

    /** The items of a transaction are of one topic. */
    private int remove(Connection connection, List<Item> handled) throws SQLException {
        TopicName topic = handled.get(0).claim().message().topic();
        HandlingStatements.RemovedRows removed = means.statements()
                .removeHandled(connection, rows(handled), means.options().archive(topic), terms.timeout());
        locked(removed.session());
        return removed.count();
    }

    private List<HandlingResult> commit(Connection connection, List<Item> handled, List<JdbcUnitOfWork> units) {
        SQLException failure = null;
        End end = End.UNDONE;
        if (isAbandoned()) {
            failure = new SQLException("The transaction was abandoned");
            Sessions.rollbackOrAbort(connection, failure);
        } else {
            failure = tryToCommit(connection);
            end = failure == null ? End.DONE : failed(connection, failure, handled);
        }
        units.forEach(end == End.DONE ? JdbcUnitOfWork::committed : JdbcUnitOfWork::abandoned);
        List<HandlingResult> ends = new ArrayList<>(handled.size());
        for (Item item : handled) {
            ends.add(new HandlingResult(item.claim(), end, failure));
        }
        return ends;
    }

    private static @Nullable SQLException tryToCommit(Connection connection) {
        try {
            connection.commit();
            return null;
        } catch (SQLException e) {
            Sessions.rollbackOrAbort(connection, e);
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

    private List<HandlingResult> all(End end, @Nullable Throwable failure) {
        List<HandlingResult> ends = new ArrayList<>(items.size());
        for (Item item : items) {
            ends.add(new HandlingResult(item.claim(), end, failure));
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
