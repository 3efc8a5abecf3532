package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.error.InvalidConfigurationException;
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

/**
 * The door to this room: Postrider's tables in one database. Opening it connects once, to learn which database it is.
 * Thread-safe.
 */
public final class JdbcDatabase {

    private final DataSource dataSource;
    private final Dialect dialect;
    private final JdbcOptions options;
    private final Sessions sessions;
    private final Topics topics;
    private final JdbcOutbox outboxes;
    private final EventListener events;

    JdbcDatabase(
            DataSource dataSource,
            Dialect dialect,
            JdbcOptions options,
            Sessions sessions,
            JdbcOutbox outboxes,
            Topics topics,
            EventListener events) {
        this.dataSource = dataSource;
        this.dialect = dialect;
        this.options = options;
        this.sessions = sessions;
        this.topics = topics;
        this.outboxes = outboxes;
        this.events = events;
    }

    /**
     * @param statementTimeout how long a statement of our own may wait for the server's answer before the connection is given up
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     */
    public static JdbcDatabase open(
            DataSource dataSource, JdbcOptions options, Duration statementTimeout, EventListener events) {
        try (Connection connection = dataSource.getConnection()) {
            Dialect dialect = Dialect.of(connection.getMetaData(), options);
            dialect.checkCharacters(connection);
            boolean setIsolation = connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
            Topics topics = new Topics(dialect);
            String ownUrl = Urls.address(connection.getMetaData().getURL());
            return new JdbcDatabase(
                    dataSource,
                    dialect,
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

    /** Brings the tables to this library's version; says how many versions it applied. Safe on many nodes at once. */
    public int migrate() {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            int applied = new Migrator(dialect, options).migrate(connection);
            connection.setAutoCommit(autoCommit);
            return applied;
        } catch (SQLException e) {
            throw SqlErrors.translate("migrate the schema", e);
        }
    }

    /** The statements that {@link #migrate} would run on an empty database. */
    public List<String> script() {
        return new Migrator(dialect, options).script();
    }

    /** @throws dev.postrider.error.SchemaMismatchException when this library cannot work with the tables that are there */
    public void check() {
        sessions.statement("check the schema", connection -> {
            new SchemaCheck(dialect, options).check(connection);
            dialect.checkServer(connection);
            return true;
        });
    }

    /**
     * Compares the tables with those that this database is to be dispatched on, by the times at which their versions were applied.
     *
     * @throws InvalidConfigurationException when they are other tables: nothing that is written here would be delivered
     */
    public void checkDispatchedOn(JdbcDatabase dispatching) {
        if (dispatching != this && !dispatching.applied().equals(applied())) {
            throw new InvalidConfigurationException(
                    "dispatch-on",
                    "leads to other tables than the data source of Postrider, so nothing that is written would be delivered:"
                            + " both must lead to the same database and schema");
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

    /** Makes the topics known to every process that uses this database. */
    public void register(Collection<TopicDeclaration> declarations) {
        sessions.statement("register topics", connection -> {
            topics.register(connection, declarations);
            return true;
        });
    }

    /** Makes handlers known to every process that receives for their consumers. Their topics are registered before. */
    public void registerHandlers(Collection<InboxHandler> handlers) {
        if (!handlers.isEmpty()) {
            sessions.statement("register handlers", connection -> {
                new InboxHandlers(dialect).register(connection, handlers);
                return true;
            });
        }
    }

    /** Writes in the transaction of the given connection. Opens none of its own. */
    public Outbox outbox(Connection connection) {
        return outboxes.on(connection);
    }

    /** Runs the work in a transaction of its own, writes what it staged, and commits; or rolls all of it back. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work) throws X {
        return inTransaction(work, HandOver.none());
    }

    /** The same, with somebody in this process who may take the messages over, and is told of the others. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work, HandOver handOver) throws X {
        return inTransaction(work, unit -> {}, handOver);
    }

    /** Transactions of this database in which a row of ours is written too. */
    public Transactions transactions(HandOver handOver) {
        return new Transactions() {
            @Override
            public <T, X extends Exception> T run(Work<T, X> work, Consumer<UnitOfWork> last) throws X {
                return inLazyTransaction(work, last, handOver);
            }

            @Override
            public Part join(Connection connection) {
                return new JdbcPart(connection, outboxes, options.stagedLimit());
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
                transaction.rollback(e);
                throw e;
            }
            unit.committed();
            return result;
        }
    }

    /** The same, in a transaction that takes its connection when it is first needed: at the latest for the last thing. */
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

    /** A unit of work in a transaction that somebody else commits. */
    JdbcUnitOfWork unitOfWork(Connection connection) {
        return new JdbcUnitOfWork(connection, outboxes, options.stagedLimit(), HandOver.none());
    }

    /** @param handOver is told of the messages that consumers send */
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

    /** Marks of received messages, in the transactions of others. */
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
     * Reports each topic that has messages waiting and that no live node delivers, as after a typing error in the name of a topic.
     *
     * @param own what the caller delivers or is about to
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
