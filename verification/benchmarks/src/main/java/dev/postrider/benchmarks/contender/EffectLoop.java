package dev.postrider.benchmarks.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** Leases a batch. Then deletes each message and writes its order in one transaction per message. */
final class EffectLoop implements HandLoops.Turn {

    private final HandStatements statements;
    private final Receiver receiver;
    private final DueScan scan = new DueScan();

    EffectLoop(HandStatements statements, Receiver receiver) {
        this.statements = statements;
        this.receiver = receiver;
    }

    @Override
    public boolean take(Connection connection) throws SQLException {
        List<HandStatements.Row> leased =
                scan.claim(position -> statements.lease(connection, position)).rows();
        connection.commit();
        for (HandStatements.Row row : leased) {
            statements.delete(connection, List.of(row));
            new Order(row.order()).insert(connection);
            connection.commit();
            receiver.receive(row.order());
        }
        return !leased.isEmpty();
    }
}
