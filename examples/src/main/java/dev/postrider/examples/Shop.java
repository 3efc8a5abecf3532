package dev.postrider.examples;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/** The application of the examples: a shop with a table of orders in an in-memory database. */
record Shop(DataSource dataSource) {

    static Shop open() throws SQLException {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id INT PRIMARY KEY)");
        }
        return new Shop(dataSource);
    }

    void insert(Connection connection, Order order) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            statement.setInt(1, order.id());
            statement.executeUpdate();
        }
    }

    int countOrders() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM orders")) {
            row.next();
            return row.getInt(1);
        }
    }
}
