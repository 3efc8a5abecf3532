package dev.postrider.jdbc;

import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Tells by its URL whether a connection leads to our database, and remembers those that do: some drivers build the URL anew each
 * time, at half the client's cost of a message. Only the driver's own connection is remembered, never a pool's or a framework's
 * wrapper, which may lead elsewhere the next time. Bounded, and keeps no connection alive. Thread-safe.
 */
final class OwnConnections {

    /** A power of two, far more than a pool has connections; two that share a place are merely asked more often. */
    private static final int PLACES = 1024;

    private final String ownAddress;
    private final AtomicReferenceArray<@Nullable WeakReference<Connection>> known = new AtomicReferenceArray<>(PLACES);

    /** @param ownAddress where our data source leads, as {@link Urls#address} says it */
    OwnConnections(String ownAddress) {
        this.ownAddress = ownAddress;
    }

    /** Where a foreign connection leads; null for one of ours. */
    @Nullable
    String foreignAddress(Connection connection) throws SQLException {
        Connection driver = GuardedConnection.target(connection).unwrap(Connection.class);
        int place = System.identityHashCode(driver) & (PLACES - 1);
        WeakReference<Connection> found = known.get(place);
        if (found != null && found.refersTo(driver)) {
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

    String ownAddress() {
        return ownAddress;
    }

    /** A driver's connection is the connection of its own metadata; a wrapper's metadata are those of what it wraps, or wrapped too. */
    @SuppressWarnings("ReferenceEquality") // it itself
    private boolean isDriver(Connection connection) throws SQLException {
        return connection.getMetaData().getConnection() == connection
                && connection.unwrap(Connection.class) == connection;
    }
}
