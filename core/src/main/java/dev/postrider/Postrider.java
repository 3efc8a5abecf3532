package dev.postrider;

import dev.postrider.admin.Admin;
import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.Heartbeat;
import dev.postrider.dispatch.OperationRunner;
import dev.postrider.dispatch.Sampler;
import dev.postrider.dispatch.Topic;
import dev.postrider.idempotency.Commands;
import dev.postrider.inbox.Inbox;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.TopicDeclaration;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import dev.postrider.store.Claim;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The entry point to the outbox, the inbox and the commands of one database. It writes messages in the transactions of the
 * application and, after {@link #start}, delivers them.
 *
 * <pre>{@code
 * Postrider postrider = Postrider.on(dataSource)
 *         .topic("orders", topic -> topic.deliver(Webhook.to(uri).signedWith(secret)))
 *         .build();
 * postrider.migrate();
 * postrider.start();
 *
 * postrider.inTransaction(work -> {
 *     orders.insert(work.connection(), order);
 *     work.stage(Message.to("orders").type("order.placed").key(order.id()).json(order.toJson()).build());
 * });
 * }</pre>
 *
 * Thread-safe. Close it before the data source. Methods that use the database throw
 * {@link dev.postrider.error.StoreException} when the database fails.
 */
public final class Postrider implements AutoCloseable {

    private final JdbcDatabase database;
    private final JdbcDatabase dispatching;
    private final MessageStore store;
    private final List<Topic> topics;
    private final List<InboxHandler> handlers;
    private final Dispatcher dispatcher;
    private final Commands commands;
    private final Heartbeat heartbeat;
    private final OperationRunner operations;
    private final @Nullable Sampler sampler;
    private volatile boolean deliversByItself;

    /**
     * The data sources of a Postrider.
     *
     * @param writing runs business transactions
     * @param dispatching claims messages and writes outcomes; it may be the same
     * @param store the messages, as the dispatcher sees them
     */
    record Databases(JdbcDatabase writing, JdbcDatabase dispatching, MessageStore store) {}

    /** The topics and inbox handlers that the application declares. */
    record Declarations(List<Topic> topics, List<InboxHandler> handlers) {}

    /** @param sampler null without samples */
    record BackgroundWork(
            Heartbeat commands,
            OperationRunner operations,
            @Nullable Sampler sampler) {}

    Postrider(
            Databases databases,
            Declarations declared,
            Dispatcher dispatcher,
            Commands commands,
            BackgroundWork background) {
        this.database = databases.writing();
        this.dispatching = databases.dispatching();
        this.store = databases.store();
        this.topics = declared.topics();
        this.handlers = declared.handlers();
        this.dispatcher = dispatcher;
        this.commands = commands;
        this.heartbeat = background.commands();
        this.operations = background.operations();
        this.sampler = background.sampler();
    }

    /**
     * Starts the configuration of a Postrider. The data source is used as it is. The application configures the
     * connection pool.
     */
    public static PostriderBuilder on(DataSource dataSource) {
        return new PostriderBuilder(dataSource);
    }

    /**
     * Creates or upgrades the tables, and registers the declared topics and handlers. Several processes may call it
     * at the same time.
     */
    public void migrate() {
        database.migrate();
        register();
    }

    /** Returns the SQL statements that create the tables, for applications that run them with another tool. */
    public List<String> schemaScript() {
        return database.script();
    }

    /**
     * Registers the declared topics and handlers in the database. A process that only writes calls it when another
     * process migrates.
     */
    public void register() {
        List<TopicDeclaration> declarations =
                topics.stream().map(Topic::declaration).toList();
        database.register(declarations);
        database.registerHandlers(handlers);
    }

    /**
     * Starts the delivery of the declared topics that have a destination. It first checks the schema and registers
     * the declared topics and handlers.
     *
     * <p>Only started nodes purge rows past their retention, including commands and the marks of the inbox. A node
     * that declares no topic only purges. A process that only writes messages does not need this call. A topic that
     * has undelivered messages and no live node is reported as {@link dev.postrider.event.Event.NotDelivered}.
     *
     * @throws dev.postrider.error.SchemaMismatchException when the tables are missing or have another version. The
     *     message names the fix
     * @throws dev.postrider.error.InvalidConfigurationException when {@code dispatchOn} leads to other tables, or
     *     when topics are declared and none has a destination
     * @throws IllegalStateException when this Postrider was stopped. Build a new one
     */
    public void start() {
        database.check();
        database.checkDispatchedOn(dispatching);
        if (dispatching != database) {
            dispatching.check(); // its database user may have other grants
        }
        register();
        database.reportStranded(
                topics.stream().filter(Topic::isDelivered).map(Topic::name).collect(Collectors.toUnmodifiableSet()));
        dispatcher.start();
        operations.start();
        if (sampler != null) {
            sampler.start();
        }
        deliversByItself = true;
    }

    /** Returns an outbox that writes messages immediately, in the transaction of this connection. */
    public Outbox outbox(Connection connection) {
        return database.outbox(connection);
    }

    /**
     * The code of a unit of work without a result.
     *
     * @param <X> the checked exception that the code may throw
     */
    @FunctionalInterface
    public interface Task<X extends Exception> {
        /** Runs the code. An exception rolls back the transaction. */
        void run(UnitOfWork work) throws X;
    }

    /**
     * Runs the task in a new transaction and writes the staged messages just before the commit. The messages are
     * ready for delivery immediately after the commit. This node delivers them itself if it delivers their topics and
     * has free slots. Otherwise any node claims them.
     *
     * <p>The transaction always uses its own connection, also when the calling thread already has an open
     * transaction. Neither transaction sees uncommitted changes of the other, and each one commits or rolls back
     * alone. To write in an open transaction, use {@link #outbox(Connection)}.
     *
     * @throws X the exception of the task. The transaction was rolled back
     * @throws dev.postrider.error.TransactionConflictException when the database rolled the transaction back, even if
     *     the task caught the error. Nothing is committed, and the whole call can be repeated
     * @throws dev.postrider.error.UnusableConnectionException when the data source returns the connection of the
     *     calling thread's transaction, as a transaction-aware proxy does. The check uses the autocommit mode. It
     *     cannot detect such a proxy when the pool behind it returns connections without autocommit, so give
     *     Postrider the pool itself
     */
    public <X extends Exception> void inTransaction(Task<X> task) throws X {
        Work<Boolean, X> work = unit -> {
            task.run(unit);
            return true;
        };
        callInTransaction(work);
    }

    /**
     * Runs the work in a new transaction like {@link #inTransaction}, and returns the result of the work.
     *
     * @throws X the exception of the work. The transaction was rolled back
     */
    public <T, X extends Exception> T callInTransaction(Work<T, X> work) throws X {
        return database.inTransaction(work, dispatcher.handOver());
    }

    /**
     * Returns the inbox of a consumer. Each message takes effect once per consumer.
     *
     * @param consumer a stable name, such as {@code billing}. The marks of received messages are stored under it, so
     *     it must not change
     * @throws dev.postrider.error.InvalidConfigurationException when the name is not valid
     */
    public Inbox inbox(String consumer) {
        return database.inbox(consumer, dispatcher.handOver());
    }

    /**
     * Delivers the messages that are due now, in the calling thread, and returns when each of them has an outcome, or
     * when {@link #stop} is called meanwhile. It is meant for tests, and for processes that a scheduler starts instead
     * of {@link #start}.
     *
     * @return the number of attempts, including failed attempts
     * @throws IllegalStateException when this Postrider is started. This call could not deliver the messages that are
     *     already in flight, and would not count them
     */
    public long deliverDue() {
        if (deliversByItself) {
            throw new IllegalStateException(
                    "This Postrider is started and delivers in the background: wait for the delivery,"
                            + " or call deliverDue() on an instance that is not started");
        }
        return dispatcher.deliverDue();
    }

    /**
     * Wakes the claim loop after a commit outside {@link #inTransaction}. This node scans immediately. With a
     * doorbell, the other nodes do too.
     */
    public void wake() {
        dispatcher.wake();
    }

    /**
     * Returns the runner of idempotent commands, which take effect once per key. It needs the tables, but not
     * {@link #start}.
     */
    public Commands commands() {
        return commands;
    }

    /**
     * Records that the delivery of a claim failed, for an application that claims from {@link #store} in its own
     * loop. The message is retried by the retry policy that its topic declares here, or buried after the last attempt
     * that the topic allows. Set the same number of attempts in the claim:
     * {@link dev.postrider.store.ClaimRequest#maxAttempts}.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not declared on this Postrider
     * @throws dev.postrider.error.InvalidConfigurationException when the claim is null
     */
    public Settlement nack(Claim claim, String error) {
        return dispatcher.nack(claim, error);
    }

    /**
     * Returns the message store, for an application that claims messages and writes outcomes in its own loop, without
     * the dispatcher.
     */
    public MessageStore store() {
        return store;
    }

    /** Returns the operators' view of topics, messages, lanes, nodes, inboxes and commands. */
    public Admin admin() {
        return database.admin(() -> {
            dispatcher.wakeForOperator();
            operations.wake();
        });
    }

    /**
     * Returns the same view, with the encrypted payloads decrypted by the ciphers that this process declares. Only for
     * operators who may see them: {@link #admin} shows a payload as encrypted.
     */
    public Admin adminWithPayloads() {
        return database.adminWithPayloads(dispatcher::wakeForOperator);
    }

    /**
     * Stops claiming, waits up to the drain timeout for the messages in flight, and releases the rest. Called from a
     * handler, a transport or a listener, it does this in the background. A second call is allowed. A stopped
     * Postrider cannot be started again.
     */
    public void stop() {
        deliversByItself = false;
        if (sampler != null) {
            sampler.close();
        }
        operations.close();
        dispatcher.stop();
    }

    /** Stops the delivery like {@link #stop}, and ends the renewal of command leases. */
    @Override
    public void close() {
        stop();
        heartbeat.close();
    }
}
