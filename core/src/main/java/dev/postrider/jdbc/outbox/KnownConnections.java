package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.GuardedConnection;
import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Checks by its URL whether a connection leads to Postrider's database, and caches the connections that do. Some drivers build
 * the URL at each call, which costs half of the client's time for a message. Only the driver's connection is cached. The
 * wrapper of a pool or a framework may lead to another database the next time, so it is never cached. The cache is bounded and
 * keeps no connection alive. Thread-safe.
 */
final class KnownConnections {

    /** A power of two, far more than the connections of a pool. Two connections that share a place are only checked more often. */
    private static final int PLACES = 1024;

    private final String ownAddress;
    private final AtomicReferenceArray<@Nullable WeakReference<Connection>> known = new AtomicReferenceArray<>(PLACES);

    /** @param ownAddress the address of Postrider's data source, as returned by {@link Urls#address} */
    KnownConnections(String ownAddress) {
        this.ownAddress = ownAddress;
    }

    /** Returns the address of a connection to another database; null for a connection to Postrider's database. */
    @Nullable
    String foreignAddress(Connection connection) throws SQLException {
        Connection driver = driver(connection);
        int place = System.identityHashCode(driver) & (PLACES - 1);
        WeakReference<Connection> found = known.get(place);
        if (driver != null && found != null && found.refersTo(driver)) {
            return null;
        }
        String address = Urls.address(connection.getMetaData().getURL());
        if (!address.equals(ownAddress)) {
            return address;
        }
        if (driver != null && isDriver(driver)) {
            known.set(place, new WeakReference<>(driver));
        }
        return null;
    }

    /** Returns the driver's connection; null for a wrapper that cannot be unwrapped. The URL of such a wrapper is checked each time. */
    private static @Nullable Connection driver(Connection connection) {
        try {
            return GuardedConnection.target(connection).unwrap(Connection.class);
        } catch (SQLException | RuntimeException e) {
            return null;
        }
    }

    String ownAddress() {
        return ownAddress;
    }

    /** The metadata of a driver's connection return this connection. The metadata of a wrapper return the inner connection or a wrapper. */
    @SuppressWarnings("ReferenceEquality") // identity is meant
    private boolean isDriver(Connection connection) throws SQLException {
        return connection.getMetaData().getConnection() == connection
                && connection.unwrap(Connection.class) == connection;
    }
}
