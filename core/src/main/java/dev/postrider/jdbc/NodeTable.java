package dev.postrider.jdbc;

import dev.postrider.internal.store.LaneStore;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The table of live nodes. The clock of the database decides which nodes are live. */
final class NodeTable implements NodeStatements {

    private static final String RENEW =
            "UPDATE {node} SET worker = ?, version = ?, topics = ?, until = {later} WHERE instance = ?";

    private static final String INSERT =
            "INSERT INTO {node} (worker, version, topics, until, instance, started_at) VALUES (?, ?, ?, {later}, ?, {now})";

    private static final String ALIVE = "SELECT topics FROM {node} WHERE until > {now}";

    /** Removes the rows of nodes that ended without deleting their row. */
    private static final String PURGE = "DELETE FROM {node} WHERE until < {ago}";

    private static final String LEAVE = "DELETE FROM {node} WHERE instance = ?";

    private static final String NOW = "SELECT {now} AS now";

    private static final Duration RETENTION = Duration.ofDays(1);

    private final SqlRunner sql;

    NodeTable(SqlRunner sql) {
        this.sql = sql;
    }

    /**
     * Renews the row of this node, or inserts it.
     *
     * @return the number of live nodes that deliver each topic, by topic number
     */
    @Override
    public Map<Integer, Integer> announce(
            Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease) throws SQLException {
        String topics = topicIds.stream().sorted().map(String::valueOf).collect(Collectors.joining(","));
        SqlRunner.Bind bind = binder -> binder.text(node.worker())
                .text(version())
                .text(topics)
                .micros(lease)
                .uuid(node.instance());
        if (sql.update(connection, RENEW, bind) == 0) {
            sql.update(connection, PURGE, binder -> binder.micros(RETENTION));
            sql.update(connection, INSERT, bind);
        }
        return sql.query(connection, ALIVE, binder -> {}, rows -> {
            Map<Integer, Integer> alive = new HashMap<>();
            while (rows.next()) {
                Arrays.stream(rows.getString(1).split(","))
                        .filter(id -> !id.isEmpty())
                        .forEach(id -> alive.merge(Integer.valueOf(id), 1, Integer::sum));
            }
            return alive;
        });
    }

    @Override
    public Instant now(Connection connection) throws SQLException {
        return sql.query(connection, NOW, binder -> {}, row -> {
            row.next();
            return Objects.requireNonNull(sql.readTime(row, "now"));
        });
    }

    @Override
    public boolean leave(Connection connection, LaneStore.Node node) throws SQLException {
        return sql.update(connection, LEAVE, binder -> binder.uuid(node.instance())) == 1;
    }

    private static String version() {
        String version = NodeTable.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }
}
