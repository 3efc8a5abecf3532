package dev.postrider.testkit.database;

import javax.sql.DataSource;

/**
 * How to reach one database of a server. Immutable and safe for any thread; it stays valid over a restart of the server.
 *
 * @param name the name inside the server
 * @param jdbcUrl the address, without credentials
 * @param user a user that may do everything in the database
 * @param password the password of {@code user}
 */
public record Database(String name, String jdbcUrl, String user, String password) {

    /** A data source that opens a new connection on every call: no pool, nothing to close. */
    public DataSource dataSource() {
        return new DriverManagerDataSource(this);
    }
}
