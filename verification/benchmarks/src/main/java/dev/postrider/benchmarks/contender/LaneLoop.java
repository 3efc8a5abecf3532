package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Deletes delivered messages and reads from the next of its lanes, in one transaction. Delivers outside of a transaction. It requires
 * that no other loop reads these lanes, and that no transaction commits late.
 */
final class LaneLoop implements HandLoops.Turn {

    private final HandStatements statements;
    private final Receiver receiver;
    private final boolean archiving;
    private final Deque<Integer> lanes;
    private final Map<Integer, Long> read = new HashMap<>();
    private List<HandStatements.Row> delivered = List.of();

    LaneLoop(HandStatements statements, Receiver receiver, List<Integer> lanes, boolean archiving) {
        this.statements = statements;
        this.receiver = receiver;
        this.lanes = new ArrayDeque<>(lanes);
        this.archiving = archiving;
    }

    @Override
    public boolean take(Connection connection) throws SQLException {
        boolean deleted = !delivered.isEmpty();
        if (deleted && archiving) {
            statements.archive(connection, delivered);
        } else if (deleted) {
            statements.delete(connection, delivered);
        }
        List<HandStatements.Row> next = next(connection);
        connection.commit();
        next.forEach(row -> receiver.receive(row.order()));
        delivered = next;
        return deleted || !next.isEmpty();
    }

    /** Reads from one lane as long as it has messages. */
    private List<HandStatements.Row> next(Connection connection) throws SQLException {
        for (int tried = 0; tried < lanes.size(); tried++) {
            int lane = lanes.element();
            List<HandStatements.Row> rows = statements.next(connection, lane, read.getOrDefault(lane, 0L));
            if (!rows.isEmpty()) {
                read.put(lane, rows.get(rows.size() - 1).seq());
                return rows;
            }
            lanes.add(lanes.remove());
        }
        return List.of();
    }
}
