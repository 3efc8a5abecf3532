package dev.postrider.jdbc;

import dev.postrider.store.LaneStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Which nodes are at work, by the database's clock. */
final class NodeTable {

    private static final String RENEW =
            "UPDATE {node} SET worker = ?, version = ?, topics = ?, until = {later} WHERE instance = ?";

    private static final String INSERT =
            "INSERT INTO {node} (worker, version, topics, until, instance, started_at) VALUES (?, ?, ?, {later}, ?, {now})";

    private static final String ALIVE = "SELECT topics FROM {node} WHERE until > {now}";

    /** What is long gone, and only in the way. */
    private static final String FORGET = "DELETE FROM {node} WHERE until < {ago}";

    private static final String LEAVE = "DELETE FROM {node} WHERE instance = ?";

    private static final Duration MEMORY = Duration.ofDays(1);

    private final Dialect dialect;

    NodeTable(Dialect dialect) {
        this.dialect = dialect;
    }

    /** @return how many nodes are alive, by the number of each topic that they deliver */
    Map<Integer, Integer> announce(Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease)
            throws SQLException {
        String topics = topicIds.stream().sorted().map(String::valueOf).collect(Collectors.joining(","));
        Dialect.Bind bind = binder -> binder.text(node.worker())
                .text(version())
                .text(topics)
                .micros(lease)
                .uuid(node.instance());
        if (dialect.update(connection, RENEW, bind) == 0) {
            dialect.update(connection, FORGET, binder -> binder.micros(MEMORY));
            dialect.update(connection, INSERT, bind);
        }
        return dialect.query(connection, ALIVE, binder -> {}, rows -> {
            Map<Integer, Integer> alive = new HashMap<>();
            while (rows.next()) {
                Arrays.stream(rows.getString(1).split(","))
                        .filter(id -> !id.isEmpty())
                        .forEach(id -> alive.merge(Integer.valueOf(id), 1, Integer::sum));
            }
            return alive;
        });
    }

    boolean leave(Connection connection, LaneStore.Node node) throws SQLException {
        return dialect.update(connection, LEAVE, binder -> binder.uuid(node.instance())) == 1;
    }

    private static String version() {
        String version = NodeTable.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }
}
