package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Inbox;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
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
            boolean setIsolation = connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED;
            Topics topics = new Topics(dialect);
            String ownUrl = Urls.address(connection.getMetaData().getURL());
            return new JdbcDatabase(
                    dataSource,
                    dialect,
                    options,
                    new Sessions(dataSource, setIsolation, statementTimeout, dialect.idleLimit(connection)),
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
                return inTransaction(work, last, handOver);
            }

            @Override
            public Part join(Connection connection) {
                return new JdbcPart(connection, outboxes, options.stagedLimit());
            }
        };
    }

    private <T, X extends Exception> T inTransaction(Work<T, X> work, Consumer<UnitOfWork> last, HandOver handOver)
            throws X {
        try (Connection connection = dataSource.getConnection()) {
            boolean autoCommit = connection.getAutoCommit();
            connection.setAutoCommit(false);
            try {
                return runAndCommit(connection, work, last, handOver);
            } catch (Throwable e) {
                Sessions.rollback(connection, e);
                throw e;
            } finally {
                if (!connection.isClosed()) {
                    connection.setAutoCommit(autoCommit);
                }
            }
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction("run the transaction", e);
        }
    }

    private <T, X extends Exception> T runAndCommit(
            Connection connection, Work<T, X> work, Consumer<UnitOfWork> last, HandOver handOver)
            throws X, SQLException {
        JdbcUnitOfWork unit = new JdbcUnitOfWork(connection, outboxes, options.stagedLimit(), handOver);
        T result = work.run(unit);
        try {
            unit.flush();
            last.accept(unit);
            connection.commit();
        } catch (Throwable e) {
            unit.abandoned();
            throw e;
        }
        unit.committed();
        return result;
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
        return new JdbcCommandStore(sessions, dialect);
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
        return new JdbcAdmin(sessions, dialect, topics);
    }
}
