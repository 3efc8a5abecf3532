package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.event.Event;
import dev.postrider.testkit.WatchedDataSource;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * A primary that has become a replica behind the same address: open connections still lead to it, and can only read; new ones lead to
 * its successor. A pool sees nothing wrong with them.
 */
final class DemotedServerTest {

    @OnAllServers
    void nodeGoesOnOverNewConnections(Engine engine) throws Exception {
        try (Site site = Site.on(engine)) {
            HikariDataSource pool = site.pool(site.database());
            MovedAddress address = new MovedAddress(pool, engine);
            Node node = site.node("moved", address, Pace.PATIENT, delivery -> {});
            node.start();
            site.place(5);
            Await.until(() -> "delivered " + node.count(), () -> node.count() >= 5);

            int demoted = address.move(pool.getMaximumPoolSize());
            site.place(5);
            long moved = System.nanoTime();
            Await.until(() -> "delivered " + node.count(), () -> node.count() >= 10);
            long took = System.nanoTime() - moved;
            Await.until(() -> "waiting " + site.live(), () -> site.live().isEmpty());

            assertThat(demoted).isPositive();
            assertThat(address.met()).as("connections found to be read-only").isPositive();
            assertThat(node.seen()).hasSize(10).allMatch(seen -> seen.attempt() == 1);
            assertThat(node.events(Event.LeaseLost.class)).isEmpty();
            site.print("read-only server", "all delivered " + took / 1_000_000 + " ms after the address had moved");
        }
    }

    private static final class MovedAddress extends WatchedDataSource {

        private final HikariDataSource pool;
        private final Engine engine;
        private final Set<Connection> old = Collections.newSetFromMap(new IdentityHashMap<>());
        private int met;

        MovedAddress(HikariDataSource pool, Engine engine) {
            super(pool);
            this.pool = pool;
            this.engine = engine;
        }

        /** All that the pool can have, so that every one of them is of the old server. */
        int move(int count) throws SQLException {
            List<Connection> open = new ArrayList<>();
            try {
                while (open.size() < count) {
                    open.add(pool.getConnection());
                }
                synchronized (this) {
                    for (Connection connection : open) {
                        old.add(connection.unwrap(Connection.class));
                    }
                    return old.size();
                }
            } finally {
                for (Connection connection : open) {
                    connection.close();
                }
            }
        }

        synchronized int met() {
            return met;
        }

        @Override
        protected Object on(Call call) throws Throwable {
            if (isDemoted(call)) {
                try (Statement statement = call.connection().createStatement()) {
                    statement.execute(
                            engine == Engine.POSTGRESQL_18
                                    ? "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"
                                    : "SET SESSION TRANSACTION READ ONLY");
                }
            }
            return call.proceed();
        }

        /** Once for each: it stays read-only until it is closed. */
        private synchronized boolean isDemoted(Call call) throws SQLException {
            boolean demoted = call.name().equals("getAutoCommit")
                    && old.remove(call.connection().unwrap(Connection.class));
            met += demoted ? 1 : 0;
            return demoted;
        }
    }
}
