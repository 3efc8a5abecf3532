package dev.postrider.jdbc;

import dev.postrider.jdbc.inbox.InboxMark;
import dev.postrider.jdbc.inbox.InboxPartitions;
import dev.postrider.jdbc.inbox.InboxStatements;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What {@code PostgresInbox} asks, answered by the simulated database. An insert waits for a transaction that has inserted the same mark. */
class SimulatedInbox implements InboxStatements {

    /** A mark is one consumer's. */
    record Place(String consumer, InboxMark.Key key) {}

    final SimulatedDatabase database;

    SimulatedInbox(SimulatedDialect dialect) {
        this.database = dialect.database;
    }

    @Override
    public boolean canLoseATransaction() {
        return false;
    }

    @Override
    public Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("mark as received", transaction -> {
            Set<InboxMark.Key> inserted = new LinkedHashSet<>();
            for (InboxMark mark : marks) {
                session.meanwhile(transaction);
                Cell<InboxMark> cell =
                        database.marks.computeIfAbsent(new Place(consumer, mark.key), absent -> new Cell<>());
                database.awaitChange(cell, transaction);
                if (cell.seenBy(transaction) == null) {
                    database.lock(cell, transaction, false);
                    write(cell, new InboxMark(mark.key, mark.payloadHash, now()));
                    inserted.add(mark.key);
                }
            }
            return answered(marks, inserted);
        });
    }

    void write(Cell<InboxMark> cell, InboxMark mark) {
        cell.pending = mark;
        cell.isChanged = true;
    }

    Set<InboxMark.Key> answered(List<InboxMark> marks, Set<InboxMark.Key> inserted) {
        return inserted;
    }

    private Instant now() {
        return Instant.ofEpochMilli(database.micros() / 1000);
    }

    @Override
    public Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys)
            throws SQLException {
        return Session.of(connection).run("find marks", transaction -> {
            Map<InboxMark.Key, InboxMark> found = new LinkedHashMap<>();
            for (InboxMark.Key key : keys) {
                Cell<InboxMark> cell = database.marks.get(new Place(consumer, key));
                InboxMark mark = cell == null ? null : cell.seenBy(transaction);
                if (mark != null) {
                    found.put(key, mark);
                }
            }
            return found;
        });
    }

    /** Nothing is removed in a run, and so nothing is too old. */
    @Override
    public Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) {
        return Set.of();
    }

    @Override
    public int purge(Connection connection, Duration age, Duration span, int limit) {
        throw SimulatedDialect.unused();
    }

    @Override
    public Optional<InboxPartitions> partitions() {
        throw SimulatedDialect.unused();
    }
}
