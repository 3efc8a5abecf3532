package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Locks, delivers and deletes in one transaction. */
final class LockLoop implements HandLoops.Turn {

    private final HandStatements statements;
    private final Receiver receiver;
    private final DueScan scan = new DueScan();

    LockLoop(HandStatements statements, Receiver receiver) {
        this.statements = statements;
        this.receiver = receiver;
    }

    @Override
    public boolean take(Connection connection) throws SQLException {
        List<HandStatements.Row> locked =
                scan.claim(position -> statements.lock(connection, position)).rows();
        if (!locked.isEmpty()) {
            locked.forEach(row -> receiver.receive(row.order()));
            statements.delete(connection, locked);
        }
        connection.commit();
        return !locked.isEmpty();
    }
}
