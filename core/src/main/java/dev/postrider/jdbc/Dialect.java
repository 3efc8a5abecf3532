package dev.postrider.jdbc;

import dev.postrider.jdbc.command.CommandInserts;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.outbox.InsertStatements;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.TableOptions;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;

/** The statements of one database, by subject. Immutable, thread-safe. */
interface Dialect {

    /** Runs statements that are the same on every database. */
    SqlRunner sql();

    InsertStatements inserts();

    ClaimStatements claims();

    OutcomeStatements outcomes();

    HandlingStatements handling();

    /** @param lockTimeout how long a statement that is a transaction of its own may wait for a lock; {@link Sessions} limits the others */
    LaneDialect lanes(Duration lockTimeout);

    InboxStatements inbox();

    CommandInserts commandInserts();

    PurgeStatements purges();

    SessionStatements session();

    /** Detects the database of a connection. */
    static Dialect of(DatabaseMetaData server, TableOptions options) throws SQLException {
        return new DetectedDialect(
                SqlRunner.of(DatabaseKind.of(server), options.schema(), options.tablePrefix()), server.getDriverName());
    }
}
