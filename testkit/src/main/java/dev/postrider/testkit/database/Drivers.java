package dev.postrider.testkit.database;

import java.sql.DriverManager;
import java.sql.SQLException;

/** Checks that the JDBC driver is present, before a server is started. */
final class Drivers {

    private Drivers() {}

    static void require(Engine engine, String jdbcUrl) {
        try {
            DriverManager.getDriver(jdbcUrl);
        } catch (SQLException e) {
            throw new DatabaseUnavailableException(
                    engine,
                    "no JDBC driver on the class path accepts " + jdbcUrl,
                    "add " + artifact(engine) + " to the dependencies of the tests",
                    e);
        }
    }

    private static String artifact(Engine engine) {
        return switch (engine) {
            case POSTGRESQL_15, POSTGRESQL_18 -> "org.postgresql:postgresql";
            case MARIADB_11_4 -> "org.mariadb.jdbc:mariadb-java-client";
            case MYSQL_8_0 -> "com.mysql:mysql-connector-j";
            case H2 -> "com.h2database:h2";
        };
    }
}
