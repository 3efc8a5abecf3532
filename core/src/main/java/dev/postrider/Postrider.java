package dev.postrider;

import dev.postrider.admin.Admin;
import dev.postrider.admin.CommandAdmin;
import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.Heartbeat;
import dev.postrider.dispatch.Topic;
import dev.postrider.idempotency.Commands;
import dev.postrider.inbox.Inbox;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import dev.postrider.store.Claim;
import dev.postrider.store.InboxHandler;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import dev.postrider.store.TopicDeclaration;
import java.sql.Connection;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * The outbox of one database: writes messages in the application's own transactions and, once started, delivers them.
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
 * Thread-safe. Close it before the data source.
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

    Postrider(
            JdbcDatabase database,
            JdbcDatabase dispatching,
            MessageStore store,
            List<Topic> topics,
            List<InboxHandler> handlers,
            Dispatcher dispatcher,
            Commands commands,
            Heartbeat heartbeat) {
        this.database = database;
        this.dispatching = dispatching;
        this.store = store;
        this.topics = topics;
        this.handlers = handlers;
        this.dispatcher = dispatcher;
        this.commands = commands;
        this.heartbeat = heartbeat;
    }

    /** Begins a configuration. The data source is used as it is given; pooling is the application's business. */
    public static PostriderBuilder on(DataSource dataSource) {
        return new PostriderBuilder(dataSource);
    }

    /** Creates or upgrades the tables and registers the declared topics. Safe when many processes do it at once. */
    public void migrate() {
        database.migrate();
        register();
    }

    /** The statements that bring the tables in, for those who apply them by other means. */
    public List<String> schemaScript() {
        return database.script();
    }

    /** Registers the declared topics and handlers in the database: for a process that only writes, when another one migrates. */
    public void register() {
        List<TopicDeclaration> declarations =
                topics.stream().map(Topic::declaration).toList();
        database.register(declarations);
        database.registerHandlers(handlers);
    }

    /**
     * Checks the schema, registers the declared topics, and begins to deliver those that have a destination. Commands and
     * received messages that are past their time are forgotten by started processes only; one that declares no topic does nothing else. A
     * process that only writes leaves it out. A topic with waiting messages that no live node delivers is reported as
     * {@link dev.postrider.event.Event.NotDelivered}.
     *
     * @throws dev.postrider.error.SchemaMismatchException when the tables are missing or of another version; names the fix
     * @throws dev.postrider.error.InvalidConfigurationException when {@code dispatchOn} leads to other tables
     */
    public void start() {
        database.check();
        database.checkDispatchedOn(dispatching);
        if (dispatching != database) {
            dispatching.check(); // its user may be another one, with other grants
        }
        register();
        database.reportStranded(
                topics.stream().filter(Topic::isDelivered).map(Topic::name).collect(Collectors.toUnmodifiableSet()));
        dispatcher.start();
    }

    /** Writes in the transaction of this connection, at once. */
    public Outbox outbox(Connection connection) {
        return database.outbox(connection);
    }

    /** What a unit of work does when it has nothing to answer. */
    @FunctionalInterface
    public interface Task<X extends Exception> {
        void run(UnitOfWork work) throws X;
    }

    /**
     * Runs the task in a transaction, writes the messages it staged just before the commit, and sees to it that they are delivered at
     * once after it: by this process if it delivers their topics and has room, otherwise by whoever claims them.
     *
     * <p>It is a transaction of its own on a connection of its own, also when the calling thread is in a transaction already: neither
     * sees what the other has not committed, and each commits or rolls back alone. To write in a transaction that is open, use
     * {@link #outbox(Connection)}.
     *
     * @throws X what the task threw; everything was rolled back
     * @throws dev.postrider.error.TransactionConflictException when the database rolled the transaction back, even if the task did not
     *     mind: nothing is committed, and all of it can be run again
     * @throws dev.postrider.error.UnusableConnectionException when the data source hands out the connection of the calling thread's
     *     transaction, as a transaction-aware proxy does; told by its autocommit mode
     */
    public <X extends Exception> void inTransaction(Task<X> task) throws X {
        Work<Boolean, X> work = unit -> {
            task.run(unit);
            return true;
        };
        answerInTransaction(work);
    }

    /** The same for work that answers something. */
    public <T, X extends Exception> T answerInTransaction(Work<T, X> work) throws X {
        return database.inTransaction(work, dispatcher.handOver());
    }

    /**
     * The inbox of a consumer: what it has had before it does not get again.
     *
     * @param consumer a name that stays the same for ever, such as {@code billing}: it says who has had a message
     * @throws dev.postrider.error.InvalidConfigurationException when it is no such name
     */
    public Inbox inbox(String consumer) {
        return database.inbox(consumer, dispatcher.handOver());
    }

    /**
     * Delivers what is due now, in this thread: for tests, and for processes that are started by a clock instead of
     * {@link #start}.
     *
     * @return how many attempts were made
     */
    public long deliverDue() {
        return dispatcher.deliverDue();
    }

    /** Says that something was committed outside {@link #inTransaction}, so that it is looked for at once: here, and with a doorbell elsewhere. */
    public void wake() {
        dispatcher.wake();
    }

    /** Runs commands once per key, whoever retries them. Needs the tables, but no {@link #start}. */
    public Commands commands() {
        return commands;
    }

    /**
     * For a loop of one's own over {@link #store}: the delivery of a claim failed. The message is tried again by the retry policy of its
     * topic, as declared here, or buried if this was the last attempt that the topic allows. Say how many these are in the claim too:
     * {@link dev.postrider.store.ClaimRequest#maxAttempts}.
     *
     * @throws dev.postrider.error.UnknownTopicException when the topic is not declared on this Postrider
     */
    public Settlement nack(Claim claim, String error) {
        return dispatcher.nack(claim, error);
    }

    /** Claims and outcomes for a loop of one's own, without the dispatcher. */
    public MessageStore store() {
        return store;
    }

    /** For operators, who end the uncertainty about commands. */
    public CommandAdmin commandAdmin() {
        return database.commandAdmin();
    }

    public Admin admin() {
        return database.admin(dispatcher::wakeForOperator);
    }

    /** Stops claiming, waits for the deliveries under way up to the drain timeout, and releases the rest. */
    public void stop() {
        dispatcher.stop();
    }

    /** Stops, and keeps up no command's lease any more. */
    @Override
    public void close() {
        stop();
        heartbeat.close();
    }
}
