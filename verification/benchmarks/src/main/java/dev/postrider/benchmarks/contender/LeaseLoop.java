package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Deletes delivered messages and leases the next ones, in one transaction. Delivers outside of a transaction. */
final class LeaseLoop implements HandLoops.Turn {

    private final HandStatements statements;
    private final Receiver receiver;
    private final DueScan scan = new DueScan();
    private List<HandStatements.Row> delivered = List.of();

    LeaseLoop(HandStatements statements, Receiver receiver) {
        this.statements = statements;
        this.receiver = receiver;
    }

    @Override
    public boolean take(Connection connection) throws SQLException {
        boolean deleted = !delivered.isEmpty();
        if (deleted) {
            statements.delete(connection, delivered);
        }
        List<HandStatements.Row> leased =
                scan.claim(position -> statements.lease(connection, position)).rows();
        connection.commit();
        leased.forEach(row -> receiver.receive(row.order()));
        delivered = leased;
        return deleted || !leased.isEmpty();
    }
}
