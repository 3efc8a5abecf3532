package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.time.Duration;

/** The statements for lanes on one database. */
record LaneDialect(
        LaneStatements lanes, LaneReads reads, LaneOutcomeStatements outcomes, KeyHeads heads, NodeStatements nodes) {

    /** @param lockTimeout how long a statement that is a transaction of its own may wait for a lock; {@link Sessions} limits the others */
    static LaneDialect of(SqlRunner sql, Duration lockTimeout) {
        KeyHeads heads = new LaneKeys(sql);
        NodeStatements nodes = new NodeTable(sql);
        if (sql.kind() == DatabaseKind.POSTGRESQL) {
            return new LaneDialect(
                    new PostgresLanes(sql, lockTimeout),
                    new PostgresLaneReads(sql),
                    new PostgresLaneOutcomes(sql),
                    heads,
                    nodes);
        }
        InnoDbLanes lanes = new InnoDbLanes(sql);
        InnoDbLaneReads reads = new InnoDbLaneReads(sql);
        return new LaneDialect(lanes, reads, new InnoDbLaneOutcomes(sql, lanes, reads), heads, nodes);
    }
}
