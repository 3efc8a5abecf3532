package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Inbox;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import dev.postrider.store.CommandStore;
import dev.postrider.store.HandOver;
import dev.postrider.store.HandlingStore;
import dev.postrider.store.InboxHandler;
import dev.postrider.store.InboxStore;
import dev.postrider.store.LaneStore;
import dev.postrider.store.MessageStore;
import dev.postrider.store.RetentionStore;
import dev.postrider.store.TopicDeclaration;
import dev.postrider.store.Transactions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postrider's tables in one database: the entry point of this package. {@link #open} connects once, to detect the database.
 * Thread-safe.
 */
public final class JdbcDatabase {

    private static final Logger log = LoggerFactory.getLogger(JdbcDatabase.class);

    private final DataSource dataSource;
    private final Dialect dialect;
    private final Dialect asConnected;
    private final @Nullable String place;
    private final JdbcOptions options;
    private final Sessions sessions;
    private final Topics topics;
    private final JdbcOutbox outboxes;
    private final EventListener events;

    /**
     * @param dialect uses the full names of the tables
     * @param asConnected uses the names that a connection of the data source resolves; for the migration and the schema check
     * @param place the schema of the tables, also before they exist; null if the connection does not report it
     */
    JdbcDatabase(
            DataSource dataSource,
            Dialect dialect,
            Dialect asConnected,
            @Nullable String place,
            JdbcOptions options,
            Sessions sessions,
            JdbcOutbox outboxes,
            Topics topics,
            EventListener events) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.asConnected = asConnected;
        this.place = place;
        this.options = options;
        this.sessions = sessions;
        this.topics = topics;
        this.outboxes = outboxes;
        this.events = events;
    }

    /**
     * Connects to the database and detects its kind and the place of the tables.
     *
     * @param statementTimeout how long a statement of Postrider waits for the answer of the server before the connection is abandoned
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     * @throws UnusableConnectionException when the data source returns the connection of the caller's transaction
     */
    public static JdbcDatabase open(
            DataSource dataSource, JdbcOptions options, Duration statementTimeout, EventListener events) {
        try (Connection connection = dataSource.getConnection()) {
            Dialect asConnected = Dialect.of(connection.getMetaData(), options);
            if (!connection.getAutoCommit()) {
                refuseCallersTransaction(dataSource, asConnected, connection);
            }
            asConnected.checkConnection(connection);
            String place =
                    asConnected.schemaOfTables(connection, options.schema()).orElse(null);
            // A connection that is switched to another schema may find other tables there, with other topic ids.
            Dialect dialect = options.schema() != null || place == null ? asConnected : asConnected.in(place);
            boolean setIsolation = connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
            Topics topics = new Topics(dialect);
            String ownUrl = Urls.address(connection.getMetaData().getURL());
            return new JdbcDatabase(
                    dataSource,
                    dialect,
                    asConnected,
                    place,
                    options,
                    new Sessions(
                            dataSource,
                            connection.getAutoCommit(),
                            setIsolation,
                            statementTimeout,
                            dialect.idleLimit(connection)),
                    new JdbcOutbox(dialect, topics, options, ownUrl, events),
                    topics,
                    events);
        } catch (SQLException e) {
            throw SqlErrors.translate("connect to the database", e);
        }
    }

    /**
     * Refuses a data source that returns the connection of the calling thread's transaction. A connection without autocommit has one of two
     * causes: the data source returns all connections so, or the connection belongs to that transaction. In the second case a second
     * connection has the same session, and the properties of this connection say nothing about the data source.
     */
    private static void refuseCallersTransaction(DataSource dataSource, Dialect dialect, Connection first)
            throws SQLException {
        long session = session(dialect, first);
        try (Connection second = dataSource.getConnection()) {
            if (session(dialect, second) == session) {
                throw new UnusableConnectionException(Problem.IN_TRANSACTION);
            }
        } catch (SQLException e) {
            log.debug("No second connection is available, so the first belongs to the data source", e);
        }
    }

    private static long session(Dialect dialect, Connection connection) throws SQLException {
        return dialect.query(connection, "SELECT " + dialect.sessionId(), binder -> {}, row -> {
            row.next();
            return row.getLong(1);
        });
    }

    /** Migrates the tables to the version of this library. Returns how many versions it applied. Safe on several nodes at once. */
    public int migrate() {
        try (Connection connection = dataSource.getConnection()) {
            if (connection.isReadOnly()) {
                throw readOnly(null);
            }
            boolean autoCommit = connection.getAutoCommit();
            requireSamePlace(connection);
            int applied = new Migrator(asConnected, options).migrate(connection);
            connection.setAutoCommit(autoCommit);
            return applied;
        } catch (SQLException e) {
            throw SqlErrors.isReadOnly(e) ? readOnly(e) : SqlErrors.translate("migrate the schema", e);
        }
    }

    private static UnusableConnectionException readOnly(@Nullable SQLException reason) {
        return new UnusableConnectionException(
                Problem.READ_ONLY, ". To migrate the tables, use a data source that may write", reason);
    }

    /** Returns the statements that {@link #migrate} runs on an empty database. */
    public List<String> script() {
        return new Migrator(asConnected, options).script();
    }

    /**
     * Checks the schema and the server.
     *
     * @throws dev.postrider.error.SchemaMismatchException when this library cannot work with the existing tables
     */
    public void check() {
        sessions.statement("check the schema", connection -> {
            requireSamePlace(connection);
            new SchemaCheck(asConnected, options).check(connection);
            dialect.checkServer(connection);
            return true;
        });
    }

    /** @throws InvalidConfigurationException when this connection resolves another schema than {@link #open} did */
    private void requireSamePlace(Connection connection) throws SQLException {
        String now = Migrator.place(asConnected, connection, options.schema());
        if (place != null && !place.equals(now)) {
            throw new InvalidConfigurationException(
                    "schema",
                    "was " + place + " when Postrider was built and is " + now
                            + " now: let every connection of the data source use one schema, and build Postrider when the"
                            + " tables exist, or name the schema with tables(t -> t.withSchema(…))");
        }
    }

    /**
     * Checks that the dispatching database has the same tables. It compares the times at which the schema versions were applied.
     *
     * @throws InvalidConfigurationException when the tables differ: messages written here would not be delivered
     */
    public void checkDispatchedOn(JdbcDatabase dispatching) {
        if (dispatching != this && !dispatching.applied().equals(applied())) {
            throw new InvalidConfigurationException(
                    "dispatch-on",
                    "uses other tables than the data source of Postrider, so written messages would not be delivered:"
                            + " both must use the same database and schema");
        }
    }

    private List<Instant> applied() {
        return sessions.statement("read the versions of the tables", connection -> {
            List<Instant> times = new ArrayList<>();
            try (Statement statement = connection.createStatement();
                    ResultSet row =
                            statement.executeQuery(dialect.sql("SELECT applied_at FROM {schema} ORDER BY version"))) {
                while (row.next()) {
                    times.add(Objects.requireNonNull(dialect.readTime(row, 1)));
                }
            } catch (SQLException e) {
                if (!SqlErrors.isMissingTable(e)) {
                    throw e;
                }
            }
            return times;
        });
    }

    /** Registers the topics in the database, for every process that uses it. */
    public void register(Collection<TopicDeclaration> declarations) {
        sessions.statement("register topics", connection -> {
            topics.register(connection, declarations);
            return true;
        });
    }

    /** Registers handlers in the database, for every process that receives for their consumers. Their topics must be registered first. */
    public void registerHandlers(Collection<InboxHandler> handlers) {
        if (!handlers.isEmpty()) {
            sessions.statement("register handlers", connection -> {
                new InboxHandlers(dialect).register(connection, handlers);
                return true;
            });
        }
    }

    /** Returns an outbox that writes in the transaction of the given connection. It opens no transaction. */
    public Outbox outbox(Connection connection) {
        return outboxes.on(connection);
    }

    /** Runs the work in a new transaction, writes the staged messages and commits. On a failure it rolls back everything. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work) throws X {
        return inTransaction(work, HandOver.none());
    }

    /** As {@link #inTransaction(Work)}. The hand-over reserves slots for local hand-overs, and is called after the commit. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work, HandOver handOver) throws X {
        return inTransaction(work, unit -> {}, handOver);
    }

    /** Returns transactions of this database in which Postrider writes its own row together with the caller's work. */
    public Transactions transactions(HandOver handOver) {
        return new Transactions() {
            @Override
            public <T, X extends Exception> T run(Work<T, X> work, Consumer<UnitOfWork> last) throws X {
                return inLazyTransaction(work, last, handOver);
            }

            @Override
            public Part join(Connection connection) {
                return new SavepointScope(connection, outboxes, options.stagedLimit());
            }

            @Override
            public boolean isConflict(Throwable failure) {
                return SqlErrors.isCausedByConflict(failure);
            }
        };
    }

    private <T, X extends Exception> T inTransaction(Work<T, X> work, Consumer<UnitOfWork> last, HandOver handOver)
            throws X {
        try (OwnTransaction transaction = OwnTransaction.begin(
                dataSource, sessions.autoCommit(), dialect.inbox().canLoseATransaction())) {
            JdbcUnitOfWork unit =
                    new JdbcUnitOfWork(transaction.connection(), outboxes, options.stagedLimit(), handOver);
            T result;
            try {
                result = work.run(unit);
                unit.flush();
                last.accept(unit);
                transaction.commit(unit);
            } catch (Throwable e) {
                unit.abandoned();
                transaction.rollback(e, unit);
                throw e;
            }
            unit.committed();
            return result;
        }
    }

    /** As {@link #inTransaction}, but it takes the connection at its first use: at the latest for the {@code last} action. */
    private <T, X extends Exception> T inLazyTransaction(Work<T, X> work, Consumer<UnitOfWork> last, HandOver handOver)
            throws X {
        try (LazyUnitOfWork unit = new LazyUnitOfWork(
                () -> OwnTransaction.begin(
                        dataSource, sessions.autoCommit(), dialect.inbox().canLoseATransaction()),
                connection -> new JdbcUnitOfWork(connection, outboxes, options.stagedLimit(), handOver))) {
            T result;
            try {
                result = work.run(unit);
                unit.commit(last);
            } catch (Throwable e) {
                unit.rollback(e);
                throw e;
            }
            unit.committed();
            return result;
        }
    }

    /** Returns a unit of work in a transaction that the caller commits. */
    JdbcUnitOfWork unitOfWork(Connection connection) {
        return new JdbcUnitOfWork(connection, outboxes, options.stagedLimit(), HandOver.none());
    }

    /**
     * Returns the inbox of a consumer.
     *
     * @param handOver for the messages that the consumer sends
     */
    public Inbox inbox(String consumer, HandOver handOver) {
        return new JdbcInbox(consumer, this, inboxStore(), handOver, events);
    }

    public MessageStore messages() {
        return new JdbcMessageStore(sessions, dialect, topics, options, System::nanoTime, UUID::randomUUID);
    }

    public LaneStore lanes() {
        return new JdbcLaneStore(sessions, dialect, topics, options, events, System::nanoTime, UUID::randomUUID);
    }

    public HandlingStore handling() {
        return new JdbcHandlingStore(sessions, dialect, outboxes, options, fanOut());
    }

    public CommandStore commands() {
        return new JdbcCommandStore(sessions.inCallersThread(), dialect);
    }

    public RetentionStore retention() {
        return new JdbcRetentionStore(sessions, dialect, System::nanoTime);
    }

    /** Returns the store for marks of received messages, which writes in the transactions of its callers. */
    public InboxStore received() {
        return inboxStore();
    }

    FanOut fanOut() {
        return new FanOut(dialect, topics, outboxes, inboxStore(), options.errorLimit());
    }

    private JdbcInboxStore inboxStore() {
        return new JdbcInboxStore(dialect, outboxes, events);
    }

    public CommandAdmin commandAdmin() {
        return new JdbcCommandAdmin(sessions, dialect, UUID::randomUUID);
    }

    public Admin admin() {
        return admin(() -> {});
    }

    /**
     * Reports each topic that has pending messages and that no live node delivers, for example after a typing error in a topic name.
     *
     * @param own the topics that the caller delivers, or will deliver; they are not reported
     */
    public void reportStranded(Set<TopicName> own) {
        new JdbcAdmin(sessions, dialect, topics, () -> {})
                .stranded().stream()
                        .filter(topic -> !own.contains(topic))
                        .forEach(topic -> events.on(new Event.NotDelivered(topic)));
    }

    /** @param changed called after each change that may let a message be delivered */
    public Admin admin(Runnable changed) {
        return new JdbcAdmin(sessions, dialect, topics, changed);
    }
}
