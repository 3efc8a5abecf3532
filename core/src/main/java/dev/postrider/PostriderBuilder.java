package dev.postrider;

import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.dispatch.Dispatcher;
import dev.postrider.dispatch.Doorbell;
import dev.postrider.dispatch.DurableInbox;
import dev.postrider.dispatch.Heartbeat;
import dev.postrider.dispatch.OperationRunner;
import dev.postrider.dispatch.Sampler;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.event.EventListener;
import dev.postrider.idempotency.Background;
import dev.postrider.idempotency.CommandOptions;
import dev.postrider.idempotency.CommandRunner;
import dev.postrider.internal.event.EventListeners;
import dev.postrider.internal.event.LogListener;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.internal.store.RowStore;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.internal.store.Stores;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.TableOptions;
import dev.postrider.trace.Tracing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Collects the configuration of a {@link Postrider}. Get one from {@link Postrider#on}. Not thread-safe. */
public final class PostriderBuilder {

    private final DataSource dataSource;
    private @Nullable DataSource dispatchDataSource;
    private @Nullable Doorbell doorbell;
    private @Nullable Duration sampleInterval;
    private @Nullable Tracing tracing;
    private TableOptions tables = TableOptions.defaults();
    private CommandOptions commands = CommandOptions.defaults();
    private final DispatchOptions.Builder dispatch = DispatchOptions.builder();
    private final Map<String, Topic> topics = new LinkedHashMap<>();
    private final List<InboxHandler> handlers = new ArrayList<>();
    private final List<EventListener> listeners = new ArrayList<>(List.of(new LogListener()));

    PostriderBuilder(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Declares a topic that this process only writes to. */
    public PostriderBuilder topic(String name) {
        return topic(name, topic -> {});
    }

    /**
     * Declares a topic, and how this process delivers it.
     *
     * @throws InvalidConfigurationException when the declaration is not valid, or the topic is declared twice
     */
    public PostriderBuilder topic(String name, Consumer<Topic.Builder> declaration) {
        Topic.Builder builder = Topic.named(name);
        declaration.accept(builder);
        Topic topic = builder.build();
        if (topics.put(topic.name().toString(), topic) != null) {
            throw new InvalidConfigurationException("topic." + topic.name(), "is declared twice: keep one");
        }
        return this;
    }

    /**
     * Declares the durable inbox of a consumer, and the handlers that this process runs. After
     * {@link Postrider#start()}, the handlers process the messages that {@code postrider.inbox(consumer).receive(…)}
     * stored, on this node or on another one.
     *
     * @throws InvalidConfigurationException when the declaration is not valid, or the inbox is declared twice
     */
    public PostriderBuilder inbox(String consumer, Consumer<DurableInbox.Builder> declaration) {
        DurableInbox.Builder builder = DurableInbox.of(consumer);
        declaration.accept(builder);
        DurableInbox inbox = builder.build();
        for (Topic topic : inbox.topics()) {
            if (topics.put(topic.name().toString(), topic) != null) {
                throw new InvalidConfigurationException("inbox." + consumer, "is declared twice: keep one");
            }
        }
        handlers.addAll(inbox.handlers());
        return this;
    }

    /** Changes the options of the tables: their schema and names, and limits for their content. */
    public PostriderBuilder tables(Consumer<TableOptions.Builder> change) {
        tables = tables.with(change);
        return this;
    }

    /** Sets the options of the tables, for example those that another part of the application uses too. */
    public PostriderBuilder tables(TableOptions options) {
        tables = options;
        return this;
    }

    /** Changes the options of this node: lease, poll interval, batch sizes, retention. */
    public PostriderBuilder dispatch(Consumer<DispatchOptions.Builder> change) {
        change.accept(dispatch);
        return this;
    }

    /**
     * Sets a second data source for delivery, so that deliveries and business transactions do not compete for
     * connections. It must lead to the same tables. {@link Postrider#start()} throws
     * {@link InvalidConfigurationException} otherwise.
     */
    public PostriderBuilder dispatchOn(DataSource dispatchDataSource) {
        this.dispatchDataSource = dispatchDataSource;
        return this;
    }

    /**
     * Changes the options of commands on this node: the size of results, their cipher, the number of waiting callers.
     */
    public PostriderBuilder commands(Consumer<CommandOptions.Builder> change) {
        commands = commands.with(change);
        return this;
    }

    /**
     * Sets the doorbell, which carries wake-ups between the nodes of this database. Without a doorbell, the other
     * nodes find new messages at their next poll.
     */
    public PostriderBuilder doorbell(Doorbell doorbell) {
        this.doorbell = doorbell;
        return this;
    }

    /** Adds a listener for events. The events are also logged. */
    public PostriderBuilder listener(EventListener listener) {
        listeners.add(listener);
        return this;
    }

    /** Sets the tracer, which follows messages and commands. Without this call there are no spans. */
    public PostriderBuilder tracing(Tracing tracing) {
        this.tracing = tracing;
        return this;
    }

    /**
     * Publishes {@link dev.postrider.event.Event.Sampled} in each interval after {@link Postrider#start()}. One node per
     * interval counts the rows for all nodes, each kind up to a limit. 15 seconds is a good interval. Without this call
     * the process takes no part in samples.
     *
     * @param interval 100 ms to 1 h; use the same on all nodes. The shortest one decides how often samples are taken
     */
    public PostriderBuilder sampleEvery(Duration interval) {
        this.sampleInterval = interval;
        return this;
    }

    /**
     * Checks the whole configuration, connects once to detect the database product, and returns the Postrider.
     *
     * @throws InvalidConfigurationException when a property is not valid. The message names the property
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     * @throws dev.postrider.error.UnusableConnectionException when the calling thread has an open transaction and the
     *     data source returns its connection, as a transaction-aware proxy does
     */
    public Postrider build() {
        DispatchOptions options = dispatch.build();
        EventListener events = new EventListeners(listeners);
        Duration statementTimeout = options.lease().dividedBy(2);
        StorageOptions storage = storage();
        SafeTracing tracer = SafeTracing.of(tracing);
        JdbcDatabase database = JdbcDatabase.open(dataSource, storage, statementTimeout, events, tracer);
        JdbcDatabase dispatching = dispatchDataSource == null
                ? database
                : JdbcDatabase.open(dispatchDataSource, storage, statementTimeout, events, tracer);
        RowStore store = dispatching.messages();
        List<Topic> declared = List.copyOf(topics.values());
        Stores stores = new Stores(store, dispatching.lanes(), dispatching.retention(), dispatching.handling());
        Doorbell.Line line = doorbell == null ? null : doorbell.open(lineName());
        Dispatcher dispatcher =
                new Dispatcher(stores, declared, options, new Dispatcher.NodeConnections(events, tracer, line));
        Heartbeat heartbeat = new Heartbeat("commands", events);
        CommandRunner runner = new CommandRunner(
                new CommandRunner.Database(
                        database.commands(), dispatching.commands(), database.transactions(dispatcher.handOver())),
                commands,
                background(heartbeat),
                events);
        Sampler sampler =
                sampleInterval == null ? null : new Sampler(dispatching.samples(), dispatcher, sampleInterval, events);
        OperationRunner operations =
                new OperationRunner(dispatching.operations(dispatcher::wakeForOperator), options, events);
        return new Postrider(
                new Postrider.Databases(database, dispatching, store),
                new Postrider.Declarations(declared, List.copyOf(handlers)),
                dispatcher,
                tracer.isOn() ? new TracedCommands(runner, tracer) : runner,
                new Postrider.BackgroundWork(heartbeat, operations, sampler));
    }

    private StorageOptions storage() {
        return new StorageOptions(
                tables, topics.values().stream().collect(Collectors.toMap(Topic::name, Topic::storage)));
    }

    private static Background background(Heartbeat heartbeat) {
        return new Background() {
            @Override
            public Runnable every(Supplier<Duration> duty) {
                return heartbeat.every(duty);
            }

            @Override
            public void start(Runnable task) {
                heartbeat.start(task);
            }
        };
    }

    /** Returns the same name in all processes that share the tables. Both parts are checked names. */
    private String lineName() {
        String schema = tables.schema();
        return (schema == null ? "" : schema + "_") + tables.tablePrefix() + "doorbell";
    }
}
