package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.RowState;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;

/** What an operator does, as {@link BlockedKeys} and {@link MessageActions} say it: on ordered topics under the lane's lock, with a new revision. */
public final class SimulatedOperator {

    private final SimulatedDatabase database;

    public SimulatedOperator(SimulatedDatabase database) {
        this.database = database;
    }

    public void pause(int topicId, boolean pause) {
        database.conductor.note((pause ? "pause topic " : "resume topic ") + topicId);
        database.pause(topicId, pause);
    }

    /** Does something by chance to something that can be had for it; what he did, or empty. */
    public Optional<UUID> act() throws SQLException {
        List<Row> repairable = database.messages.values().stream()
                .map(cell -> cell.committed)
                .filter(Objects::nonNull)
                .filter(row ->
                        row.state == RowState.DEAD || row.state == RowState.PARKED || row.state == RowState.RETRY)
                .toList();
        if (repairable.isEmpty()) {
            return Optional.empty();
        }
        Row row = database.chance().pick(repairable);
        return row.state == RowState.RETRY ? release(row) : row.state == RowState.PARKED ? mend(row) : replay(row);
    }

    private Optional<UUID> mend(Row row) throws SQLException {
        return switch (database.chance().below(3)) {
            case 0 -> release(row);
            case 1 -> skip(row);
            default -> discard(row);
        };
    }

    private Optional<UUID> release(Row row) throws SQLException {
        return change(row, true, "release a key", SimulatedOperator::isHead, (transaction, head) -> {
            head.attempts = head.state == RowState.PARKED ? 0 : head.attempts;
            goOn(head);
        });
    }

    private Optional<UUID> replay(Row row) throws SQLException {
        return change(row, false, "replay", dead -> dead.state == RowState.DEAD, (transaction, dead) -> {
            dead.attempts = 0;
            if (dead.lane == null) {
                dead.crashes = 0;
                dead.availableAt = database.micros();
                dead.state = RowState.PENDING;
                database.update(dead);
            } else {
                putBack(transaction, dead);
            }
        });
    }

    private void putBack(Transaction transaction, Row dead) throws SQLException {
        long head = head(transaction, dead);
        goOn(dead);
        if (head > 0 && head < dead.seq) {
            dead.state = RowState.BLOCKED;
            database.update(dead);
        } else if (head > dead.seq) {
            Row former = database.tryLockRow(
                    transaction, head, row -> row.state == RowState.RETRY && row.availableAt <= database.micros());
            if (former != null) {
                former.state = RowState.BLOCKED;
                database.update(former);
            }
        }
    }

    private void goOn(Row row) {
        row.state = RowState.RETRY;
        row.crashes = 0;
        row.availableAt = database.micros();
        database.update(row);
    }

    private Optional<UUID> skip(Row row) throws SQLException {
        Predicate<Row> isStillHead = head -> isHead(head) && head.seq == row.seq;
        return change(row, true, "skip", isStillHead, (transaction, head) -> {
            head.state = RowState.DEAD;
            database.update(head);
        });
    }

    private Optional<UUID> discard(Row row) throws SQLException {
        return change(
                row,
                false,
                "discard",
                parked -> parked.state == RowState.PARKED,
                (transaction, parked) -> database.delete(parked));
    }

    @FunctionalInterface
    private interface Change {
        void to(Transaction transaction, Row row) throws SQLException;
    }

    private static boolean isHead(Row row) {
        return row.state == RowState.RETRY || row.state == RowState.PARKED;
    }

    private long head(Transaction transaction, Row row) {
        return database.snapshot(transaction).values().stream()
                .filter(other -> other.isWaiting() && other.isOfKey(row))
                .mapToLong(other -> other.seq)
                .findFirst()
                .orElse(0);
    }

    /** @param head whether it is for the head of the key, whichever that is by then */
    private Optional<UUID> change(Row row, boolean head, String doing, Predicate<Row> condition, Change change)
            throws SQLException {
        Session session = database.connect();
        session.connection().setAutoCommit(false);
        try {
            Integer lane = row.lane;
            if (lane != null) {
                session.run("lock a lane for an operator", transaction -> lock(transaction, row.topicId, lane));
            }
            boolean met = session.run(doing, transaction -> {
                long seq = head ? head(transaction, row) : row.seq;
                Row newest = database.lockRow(transaction, seq, condition);
                if (newest == null) {
                    return false;
                }
                boolean ends = doing.equals("skip") || doing.equals("discard");
                change.to(transaction, newest);
                if (doing.equals("discard")) {
                    transaction.onCommit.add(() -> database.discarded(newest.id()));
                }
                if (ends) {
                    promote(transaction, newest);
                }
                return true;
            });
            session.connection().commit();
            return met ? Optional.of(row.id()) : Optional.empty();
        } finally {
            session.cut();
        }
    }

    private boolean lock(Transaction transaction, int topicId, int number) throws SQLException {
        Cell<LaneState> cell = Objects.requireNonNull(database.lanes.get(new SimulatedDatabase.Place(topicId, number)));
        database.lock(cell, transaction, false);
        LaneState lane = Objects.requireNonNull(cell.seenBy(transaction)).copy();
        lane.revision++;
        database.update(lane);
        return true;
    }

    private void promote(Transaction transaction, Row gone) throws SQLException {
        Optional<Row> next = database.snapshot(transaction).values().stream()
                .filter(row -> row.isWaiting() && row.isOfKey(gone) && row.seq != gone.seq)
                .findFirst();
        if (next.isPresent() && next.get().state == RowState.BLOCKED) {
            Row row = database.lockRow(transaction, next.get().seq, newest -> newest.state == RowState.BLOCKED);
            if (row != null) {
                goOn(row);
            }
        }
    }
}
