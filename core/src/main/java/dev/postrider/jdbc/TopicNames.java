package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;

/** The names of all topics by their numbers. */
final class TopicNames {

    private static final String ALL = "SELECT id, namespace, topic FROM {topic}";

    private TopicNames() {}

    static Map<Integer, TopicName> read(Connection connection, SqlRunner sql) throws SQLException {
        return sql.query(connection, ALL, binder -> {}, row -> {
            Map<Integer, TopicName> names = new HashMap<>();
            while (row.next()) {
                names.put(row.getInt("id"), new TopicName(row.getString("namespace"), row.getString("topic")));
            }
            return names;
        });
    }
}
