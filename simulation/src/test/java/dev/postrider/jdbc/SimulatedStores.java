package dev.postrider.jdbc;

import dev.postrider.event.EventListener;
import dev.postrider.simulation.Conductor;
import dev.postrider.store.HandlingStore;
import dev.postrider.store.RetentionStore;
import dev.postrider.store.Stores;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The stores of one node, as they are at work, over the simulated database. */
public final class SimulatedStores {

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);

    private SimulatedStores() {}

    /** How a node speaks to the database: with the statements as they are, or with a mistake in them. */
    @FunctionalInterface
    public interface Speech {
        /** @return a dialect over the database */
        Object dialect(SimulatedDatabase database);

        Speech RIGHT = SimulatedDialect::new;
    }

    public static Stores of(SimulatedDatabase database, Speech speech, EventListener events) {
        Conductor conductor = database.conductor;
        Dialect dialect = (Dialect) speech.dialect(database);
        Sessions sessions = new Sessions(dataSource(database), false, NETWORK_TIMEOUT);
        Topics topics = new Topics(dialect);
        JdbcOptions options = JdbcOptions.defaults();
        return new Stores(
                new JdbcMessageStore(sessions, dialect, topics, options, conductor::nanos, conductor.chance()::id),
                new JdbcLaneStore(sessions, dialect, topics, options, events, conductor::nanos, conductor.chance()::id),
                nothingToForget(),
                handling(sessions, dialect, topics, events));
    }

    private static DataSource dataSource(SimulatedDatabase database) {
        return proxy(DataSource.class, method -> {
            if (method.equals("getConnection")) {
                return database.connect().connection();
            }
            throw new UnsupportedOperationException(method);
        });
    }

    /** Every purge finds nothing. */
    private static RetentionStore nothingToForget() {
        return proxy(
                RetentionStore.class,
                method -> method.equals("sweepCommands") ? new dev.postrider.store.SweptCommands(0, 0, 0) : 0);
    }

    private static HandlingStore handling(Sessions sessions, Dialect dialect, Topics topics, EventListener events) {
        JdbcOptions options = JdbcOptions.defaults();
        JdbcOutbox outboxes = new JdbcOutbox(dialect, topics, options, "simulated", events);
        FanOut fanOut = new FanOut(
                dialect, topics, outboxes, new JdbcInboxStore(dialect, outboxes, events), options.errorLimit());
        return new JdbcHandlingStore(sessions, dialect, outboxes, options, fanOut);
    }

    @FunctionalInterface
    private interface Answer {
        Object to(String method) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                SimulatedStores.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answer.to(method.getName())));
    }
}
