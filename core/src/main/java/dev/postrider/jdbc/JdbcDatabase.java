package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.inbox.Inbox;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.InboxStore;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.OperationStore;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.RowStore;
import dev.postrider.internal.store.SampleStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.store.TopicDeclaration;
import dev.postrider.internal.store.Transactions;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.jdbc.command.CommandStatements;
import dev.postrider.jdbc.command.JdbcCommandStore;
import dev.postrider.jdbc.diagnosis.Diagnosis;
import dev.postrider.jdbc.diagnosis.DiagnosisLimits;
import dev.postrider.jdbc.inbox.FanOut;
import dev.postrider.jdbc.inbox.InboxHandlers;
import dev.postrider.jdbc.inbox.JdbcInbox;
import dev.postrider.jdbc.inbox.JdbcInboxStore;
import dev.postrider.jdbc.inbox.TracedInbox;
import dev.postrider.jdbc.outbox.CallerConnections;
import dev.postrider.jdbc.outbox.JdbcOutbox;
import dev.postrider.jdbc.outbox.JdbcTransactions;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.schema.JdbcSchema;
import dev.postrider.jdbc.sql.ConnectionSettings;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.Work;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postrider's tables in one database: the entry point of this package. {@link #open} connects once, to detect the database.
 * Thread-safe.
 */
public final class JdbcDatabase {

    private static final Logger log = LoggerFactory.getLogger(JdbcDatabase.class);

    private final Dialect dialect;
    private final JdbcSchema schema;
    private final Sessions sessions;
    private final JdbcTransactions transactions;
    private final Settings settings;

    /** The options, the listener and the tracer of the application. */
    record Settings(StorageOptions options, EventListener events, SafeTracing tracing) {}

    JdbcDatabase(
            Dialect dialect, JdbcSchema schema, Sessions sessions, JdbcTransactions transactions, Settings settings) {
        this.dialect = dialect;
        this.schema = schema;
        this.sessions = sessions;
        this.transactions = transactions;
        this.settings = settings;
    }

    /** As {@link #open(DataSource, StorageOptions, Duration, EventListener)}, for a caller that declares no topics. */
    public static JdbcDatabase open(
            DataSource dataSource, TableOptions options, Duration statementTimeout, EventListener events) {
        return open(dataSource, StorageOptions.of(options), statementTimeout, events);
    }

    /** As {@link #open(DataSource, StorageOptions, Duration, EventListener, SafeTracing)}, without a tracer. */
    public static JdbcDatabase open(
            DataSource dataSource, StorageOptions storage, Duration statementTimeout, EventListener events) {
        return open(dataSource, storage, statementTimeout, events, SafeTracing.NONE);
    }

    /**
     * Connects to the database and detects its kind and the place of the tables.
     *
     * @param storage the options of the tables, and what declared topics store
     * @param statementTimeout how long a statement of Postrider waits for the answer of the server before the connection is abandoned
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     * @throws UnusableConnectionException when the data source returns the connection of the caller's transaction
     */
    public static JdbcDatabase open(
            DataSource dataSource,
            StorageOptions storage,
            Duration statementTimeout,
            EventListener events,
            SafeTracing tracing) {
        TableOptions options = storage.tables();
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData server = connection.getMetaData();
            SqlRunner asConnected = SqlRunner.of(DatabaseKind.of(server), options.schema(), options.tablePrefix())
                    .withMaxPayloadBytes(options.maxPayloadBytes());
            if (!connection.getAutoCommit()) {
                refuseCallersTransaction(dataSource, SessionStatements.of(asConnected), connection);
            }
            JdbcSchema schema = JdbcSchema.of(dataSource, asConnected, connection);
            ConnectionSettings settings = ConnectionSettings.of(connection, asConnected.kind());
            Sessions sessions = new Sessions(dataSource, asConnected.kind(), settings, statementTimeout);
            Dialect dialect = new DetectedDialect(schema.inPlace(), server.getDriverName());
            CallerConnections connections = CallerConnections.of(asConnected.kind(), server);
            return of(dialect, schema, sessions, connections, new Settings(storage, events, tracing));
        } catch (SQLException e) {
            throw SqlErrors.translate("connect to the database", e);
        }
    }

    static JdbcDatabase of(
            Dialect dialect, JdbcSchema schema, Sessions sessions, CallerConnections connections, Settings settings) {
        StorageOptions options = settings.options();
        JdbcOutbox outboxes = JdbcOutbox.of(dialect.sql(), dialect.inserts(), options, connections, settings.events())
                .tracedBy(settings.tracing());
        JdbcTransactions transactions = new JdbcTransactions(
                sessions.dataSource(),
                outboxes,
                dialect.sql(),
                new JdbcTransactions.TransactionSettings(
                        sessions.autoCommit(),
                        dialect.inbox().canLoseATransaction(),
                        options.tables().commitWithInsert(),
                        options.tables().stagedLimit()));
        return new JdbcDatabase(dialect, schema, sessions, transactions, settings);
    }

    /**
     * Refuses a data source that returns the connection of the calling thread's transaction. A connection without autocommit has one of two
     * causes: the data source returns all connections so, or the connection belongs to that transaction. In the second case a second
     * connection has the same session, and the properties of this connection say nothing about the data source.
     */
    private static void refuseCallersTransaction(DataSource dataSource, SessionStatements statements, Connection first)
            throws SQLException {
        long session = statements.id(first);
        try (Connection second = dataSource.getConnection()) {
            if (statements.id(second) == session) {
                throw new UnusableConnectionException(Problem.IN_TRANSACTION);
            }
        } catch (SQLException e) {
            log.debug("No second connection is available, so the first belongs to the data source", e);
        }
    }

    /** Migrates the tables to the version of this library. Returns how many versions it applied. Safe on several nodes at once. */
    public int migrate() {
        return schema.migrate();
    }

    /** Returns the statements that {@link #migrate} runs on an empty database. */
    public List<String> script() {
        return schema.script();
    }

    /**
     * Checks the schema and the server.
     *
     * @throws dev.postrider.error.SchemaMismatchException when this library cannot work with the existing tables
     */
    public void check() {
        schema.check(sessions);
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

    /** Returns when each version of the tables was applied, in the order of the versions; empty without tables. */
    public List<Instant> applied() {
        return schema.applied(sessions);
    }

    /** Registers the topics in the database, for every process that uses it. */
    public void register(Collection<TopicDeclaration> declarations) {
        sessions.statement("register topics", connection -> {
            topics().register(connection, declarations);
            return true;
        });
    }

    /** Registers handlers in the database, for every process that receives for their consumers. Their topics must be registered first. */
    public void registerHandlers(Collection<InboxHandler> handlers) {
        if (!handlers.isEmpty()) {
            sessions.statement("register handlers", connection -> {
                new InboxHandlers(dialect.sql()).register(connection, handlers);
                return true;
            });
        }
    }

    /** Returns an outbox that writes in the transaction of the given connection. It opens no transaction. */
    public Outbox outbox(Connection connection) {
        return transactions.outboxes().on(connection);
    }

    /** Runs the work in a new transaction, writes the staged messages and commits. On a failure it rolls back everything. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work) throws X {
        return transactions.inTransaction(work);
    }

    /** As {@link #inTransaction(Work)}. The hand-over reserves slots for local hand-overs, and is called after the commit. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work, HandOver handOver) throws X {
        return transactions.inTransaction(work, handOver);
    }

    /** Returns transactions of this database in which Postrider writes its own row together with the caller's work. */
    public Transactions transactions(HandOver handOver) {
        return transactions.transactions(handOver);
    }

    /**
     * Returns the inbox of a consumer.
     *
     * @param handOver for the messages that the consumer sends
     */
    public Inbox inbox(String consumer, HandOver handOver) {
        Inbox inbox = new JdbcInbox(consumer, transactions, fanOut(), handOver, settings.events());
        return settings.tracing().isOn() ? new TracedInbox(inbox, consumer, settings.tracing()) : inbox;
    }

    public RowStore messages() {
        return messages(TimeAndIds.SYSTEM);
    }

    RowStore messages(TimeAndIds platform) {
        return new JdbcMessageStore(sessions, dialect, topics(), settings, platform);
    }

    public LaneStore lanes() {
        return lanes(TimeAndIds.SYSTEM);
    }

    LaneStore lanes(TimeAndIds platform) {
        LaneTable table = new LaneTable(sessions, dialect.lanes(sessions.lockTimeout()), topics());
        return new JdbcLaneStore(table, settings.options(), settings.events(), platform);
    }

    public HandlingStore handling() {
        return new JdbcHandlingStore(
                new HandlingTransaction.Means(
                        sessions, dialect.handling(), dialect.session(), transactions, settings.options()),
                fanOut());
    }

    public CommandStore commands() {
        return new JdbcCommandStore(
                sessions.inCallersThread(),
                new CommandStatements(dialect.sql(), dialect.commandInserts()),
                dialect.session());
    }

    public RetentionStore retention() {
        return new JdbcRetentionStore(
                sessions, dialect.purges(), dialect.inbox(), dialect.sql(), TimeAndIds.SYSTEM.nanos());
    }

    /** Returns the diagnosis of this database. It needs no tables to be created. */
    public Diagnosis diagnosis(DiagnosisLimits limits) {
        return new Diagnosis(sessions, dialect.sql(), script(), new OldestTransactions(dialect.sql())::find, limits);
    }

    /** Finds the privileges that the database user lacks, each with its table, as {@code SELECT on postrider_message}. */
    public List<String> missingGrants() {
        return schema.missingGrants(sessions);
    }

    public SampleStore samples() {
        return new JdbcSampleStore(sessions, dialect.sql(), TimeAndIds.SYSTEM);
    }

    /** @param changed called after each change that may let a message be delivered */
    public OperationStore operations(Runnable changed) {
        return new JdbcOperationStore(sessions, dialect.sql(), topics(), TimeAndIds.SYSTEM.ids(), changed);
    }

    /** Returns the store for marks of received messages, which writes in the transactions of its callers. */
    public InboxStore received() {
        return inboxStore();
    }

    private FanOut fanOut() {
        return new FanOut(
                dialect.sql(),
                topics(),
                transactions.outboxes(),
                inboxStore(),
                settings.options().tables().errorLimit());
    }

    private JdbcInboxStore inboxStore() {
        return new JdbcInboxStore(
                dialect.inbox(), transactions.outboxes().connections(), settings.options(), settings.events());
    }

    private Topics topics() {
        return transactions.outboxes().topics();
    }

    CommandAdmin commandAdmin(TimeAndIds platform) {
        return new JdbcCommandAdmin(sessions, dialect.sql(), platform.ids());
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
        jdbcAdmin(() -> {}).stranded().stream()
                .filter(topic -> !own.contains(topic))
                .forEach(topic -> settings.events().on(new Event.NotDelivered(topic)));
    }

    /** @param changed called after each change that may let a message be delivered */
    public Admin admin(Runnable changed) {
        return jdbcAdmin(changed);
    }

    /** As {@link #admin(Runnable)}, with the payloads decrypted by the declared ciphers. */
    public Admin adminWithPayloads(Runnable changed) {
        return jdbcAdmin(new JdbcAdmin.AdminAccess(changed, settings.options()));
    }

    private JdbcAdmin jdbcAdmin(Runnable changed) {
        return jdbcAdmin(new JdbcAdmin.AdminAccess(changed, null));
    }

    private JdbcAdmin jdbcAdmin(JdbcAdmin.AdminAccess access) {
        return new JdbcAdmin(sessions, dialect.sql(), dialect.inbox(), topics(), access);
    }
}
