package dev.postrider.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What a handling transaction asks of the inbox: nothing but how its savepoints behave. */
final class SimulatedInbox extends InboxStatements {

    SimulatedInbox(Dialect dialect) {
        super(dialect);
    }

    @Override
    boolean canLoseATransaction() {
        return false;
    }

    @Override
    Set<InboxMark.Key> insert(Connection connection, String consumer, List<InboxMark> marks) {
        throw SimulatedDialect.unused();
    }

    @Override
    Map<InboxMark.Key, InboxMark> find(Connection connection, String consumer, Collection<InboxMark.Key> keys) {
        throw SimulatedDialect.unused();
    }

    @Override
    Set<InboxMark.Key> tooOld(Connection connection, Collection<InboxMark.Key> keys) {
        throw SimulatedDialect.unused();
    }

    @Override
    int purge(Connection connection, Duration age, int limit) {
        throw SimulatedDialect.unused();
    }

    @Override
    Optional<InboxPartitions> partitions() {
        throw SimulatedDialect.unused();
    }
}
