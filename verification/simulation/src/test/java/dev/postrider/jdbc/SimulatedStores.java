package dev.postrider.jdbc;

import dev.postrider.admin.CommandAdmin;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Inbox;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.store.Stores;
import dev.postrider.internal.store.Transactions;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.jdbc.outbox.CallerConnections;
import dev.postrider.jdbc.schema.JdbcSchema;
import dev.postrider.jdbc.schema.SchemaStatements;
import dev.postrider.jdbc.sql.ConnectionSettings;
import dev.postrider.jdbc.sql.IdleLimit;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.outbox.Work;
import dev.postrider.simulation.Conductor;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The stores of one node, as they are at work, over the simulated database. */
public final class SimulatedStores {

    /** Where the simulated connections say that they lead. */
    static final String ADDRESS = "jdbc:simulated";

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(20);

    private final SimulatedDatabase database;
    private final SimulatedSql statements;
    private final JdbcDatabase room;

    /** How a node speaks to the database: with the statements as they are, or with a mistake in them. */
    @FunctionalInterface
    public interface Speech {
        /** @return a dialect over the database */
        Object dialect(SimulatedDatabase database);

        Speech RIGHT = SimulatedDialect::new;
    }

    public SimulatedStores(SimulatedDatabase database, Speech speech, EventListener events) {
        SimulatedDialect spoken = (SimulatedDialect) speech.dialect(database);
        SqlRunner sql = spoken.sql();
        TableOptions options = TableOptions.defaults().with(tables -> tables.commitWithInsert(false));
        this.database = database;
        this.statements = spoken.statements();
        DataSource dataSource = dataSource();
        this.room = JdbcDatabase.of(
                spoken,
                new JdbcSchema(dataSource, sql, SchemaStatements.of(sql), null),
                new Sessions(
                        dataSource,
                        sql.kind(),
                        new ConnectionSettings(true, false, new IdleLimit.Unlimited()),
                        NETWORK_TIMEOUT),
                new CallerConnections(sql.kind(), ADDRESS),
                new JdbcDatabase.Settings(StorageOptions.of(options), events, SafeTracing.NONE));
    }

    private TimeAndIds platform() {
        Conductor conductor = database.conductor;
        return new TimeAndIds(conductor::nanos, conductor.chance()::id);
    }

    /** What the engine of the node uses. */
    public Stores stores() {
        return new Stores(room.messages(platform()), room.lanes(platform()), retention(), room.handling());
    }

    public CommandStore commands() {
        return room.commands();
    }

    public Transactions transactions(HandOver handOver) {
        return room.transactions(handOver);
    }

    public Inbox inbox(String consumer, HandOver handOver) {
        return room.inbox(consumer, handOver);
    }

    /** A transaction of the application's own. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work, HandOver handOver) throws X {
        return room.inTransaction(work, handOver);
    }

    public CommandAdmin commandAdmin() {
        return room.commandAdmin(platform());
    }

    /** A connection of the application's own. */
    public Connection connect() throws SQLException {
        return database.connect().with(statements).connection();
    }

    private DataSource dataSource() {
        return SimulatedSql.proxy(DataSource.class, (method, arguments) -> {
            if (method.equals("getConnection")) {
                return connect();
            }
            throw new UnsupportedOperationException(method);
        });
    }

    /** Commands are swept and dead letters purged; every other purge finds nothing. */
    private RetentionStore retention() {
        RetentionStore real = room.retention();
        return SimulatedSql.proxy(RetentionStore.class, (method, arguments) -> switch (method) {
            case "sweepCommands" -> real.sweepCommands((Integer) arguments[0]);
            case "purgeDead" -> real.purgeDead((Duration) arguments[0], (Integer) arguments[1]);
            default -> (Object) 0;
        });
    }
}
