package dev.postrider.jdbc;

import dev.postrider.internal.store.LaneStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;

/** The statements by which nodes announce that they are alive. */
interface NodeStatements {

    /** Announces that the node is alive. Returns the number of live nodes by the id of each topic. Runs in a transaction. */
    Map<Integer, Integer> announce(Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease)
            throws SQLException;

    /** Reads the clock of the database. */
    Instant now(Connection connection) throws SQLException;

    /** @return whether the node was announced */
    boolean leave(Connection connection, LaneStore.Node node) throws SQLException;
}
