package dev.postrider.jdbc;

import dev.postrider.jdbc.command.CommandInserts;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.outbox.InsertStatements;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.SqlRunner;
import java.time.Duration;

/**
 * The statements of a detected database.
 *
 * @param driver the name of the JDBC driver: the MariaDB driver sends a batch at once, the MySQL driver row by row
 */
record DetectedDialect(SqlRunner sql, String driver) implements Dialect {

    private static final String BATCHING_DRIVER = "MariaDB Connector/J";

    @Override
    public InsertStatements inserts() {
        return InsertStatements.of(sql, driver.equals(BATCHING_DRIVER));
    }

    @Override
    public ClaimStatements claims() {
        return ClaimStatements.of(sql);
    }

    @Override
    public OutcomeStatements outcomes() {
        return OutcomeStatements.of(sql);
    }

    @Override
    public HandlingStatements handling() {
        return HandlingStatements.of(sql);
    }

    @Override
    public LaneDialect lanes(Duration lockTimeout) {
        return LaneDialect.of(sql, lockTimeout);
    }

    @Override
    public InboxStatements inbox() {
        return InboxStatements.of(sql);
    }

    @Override
    public CommandInserts commandInserts() {
        return CommandInserts.of(sql);
    }

    @Override
    public PurgeStatements purges() {
        return PurgeStatements.of(sql);
    }

    @Override
    public SessionStatements session() {
        return SessionStatements.of(sql);
    }
}
