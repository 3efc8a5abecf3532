package dev.postrider.testkit.database;

import javax.sql.DataSource;

/**
 * The address and credentials of one database of a server. They stay valid after a restart of the server. Immutable and thread-safe.
 *
 * @param name the name of the database on its server
 * @param jdbcUrl the address, without credentials
 * @param user a user with all privileges in the database
 * @param password the password of {@code user}
 */
public record Database(String name, String jdbcUrl, String user, String password) {

    /** A data source without a pool: it opens a new connection on every call. It need not be closed. */
    public DataSource dataSource() {
        return new DriverManagerDataSource(this);
    }
}
