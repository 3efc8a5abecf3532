package dev.postrider.server;

import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.DispatchOptions;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.store.TableOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The content of a configuration file. Complete and validated when {@link #load} returns it. */
final class RelayConfig {

    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(60);

    private static final String TOPIC = TopicProperties.PREFIX;
    private static final String FOREVER = "forever";

    static final Group<RelayConfig> PROCESS = new Group<RelayConfig>()
            .with("db.url", (config, value) -> config.url = value.text())
            .with("db.user", (config, value) -> config.user = value.text())
            .with("db.password", (config, value) -> config.password = value.exact())
            .with("db.password-file", (config, value) -> config.passwordFile = value.text())
            .with("db.connect-timeout", (config, value) -> config.connectTimeout = positive(value))
            .with("db.doorbell", (config, value) -> config.doorbell = value.flag())
            .with("migrate-on-start", (config, value) -> config.migrateOnStart = value.flag());

    static final Group<RelayConfig> TABLES = new Group<RelayConfig>()
            .with("schema", (config, value) -> config.tables = config.tables.with(t -> t.schema(value.text())))
            .with(
                    "table-prefix",
                    (config, value) -> config.tables = config.tables.with(t -> t.tablePrefix(value.text())))
            .with(
                    "max-payload-bytes",
                    (config, value) -> config.tables = config.tables.with(t -> t.maxPayloadBytes(value.integer())))
            .with(
                    "error-limit",
                    (config, value) -> config.tables = config.tables.with(t -> t.errorLimit(value.integer())))
            .with(
                    "archive",
                    (config, value) -> config.tables =
                            config.tables.with(t -> t.archive(value.oneOf(TableOptions.Archive.class))));

    static final Group<DispatchOptions.Builder> DISPATCH = new Group<DispatchOptions.Builder>()
            .with("worker", (options, value) -> options.worker(value.text()))
            .with("poll-interval", (options, value) -> options.pollInterval(value.duration()))
            .with("batch-size", (options, value) -> options.batchSize(value.integer()))
            .with("lease", (options, value) -> options.lease(value.duration()))
            .with("max-in-flight", (options, value) -> options.maxInFlight(value.integer()))
            .with("max-in-flight-bytes", (options, value) -> options.maxInFlightBytes(value.number()))
            .with("drain-timeout", (options, value) -> options.drainTimeout(value.duration()))
            .with("housekeeping-interval", (options, value) -> options.housekeepingInterval(value.duration()))
            .with("archive-retention", (options, value) -> options.archiveRetention(value.duration()))
            .with("dead-retention", RelayConfig::deadRetention)
            .with("key-retention", (options, value) -> options.keyRetention(value.duration()))
            .with("inbox-retention", RelayConfig::inboxRetention)
            .with("purge-batch", (options, value) -> options.purgeBatch(value.integer()));

    private @Nullable String url;
    private @Nullable String user;
    private @Nullable String password;
    private @Nullable String passwordFile;
    private Duration connectTimeout = CONNECT_TIMEOUT;
    private boolean doorbell = true;
    private boolean migrateOnStart;
    private TableOptions tables = TableOptions.defaults();
    private final MonitoringConfig monitoring = new MonitoringConfig();
    private final AdminConfig admin = new AdminConfig();
    private final List<Consumer<DispatchOptions.Builder>> dispatch = new ArrayList<>();
    private final Map<String, TopicSettings> topics = new TreeMap<>();

    private RelayConfig() {}

    static RelayConfig load(Path file, Function<String, @Nullable String> environment) {
        RelayConfig config = new RelayConfig();
        Map<String, Value> values = new ConfigFile(file, environment).read();
        TopicProperties topicProperties = new TopicProperties(values.keySet());
        values.forEach((name, value) -> config.set(topicProperties, name, value));
        config.check();
        return config;
    }

    private void set(TopicProperties topicProperties, String name, Value value) {
        boolean known = PROCESS.apply(this, name, value)
                || TABLES.apply(this, name, value)
                || MonitoringConfig.GROUP.apply(monitoring, name, value)
                || AdminConfig.GROUP.apply(admin, name, value)
                || admin.setOperator(name, value)
                || setDispatch(name, value)
                || setTopic(topicProperties.read(name), value);
        if (!known) {
            throw unknown(name);
        }
    }

    /** Applies the value to a trial builder, which reports errors, and keeps it for the real builder. */
    private boolean setDispatch(String name, Value value) {
        boolean known = DISPATCH.apply(DispatchOptions.builder(), name, value);
        if (known) {
            dispatch.add(options -> DISPATCH.apply(options, name, value));
        }
        return known;
    }

    private boolean setTopic(Optional<TopicProperties.Part> read, Value value) {
        if (read.isEmpty()) {
            return false;
        }
        TopicProperties.Part part = read.get();
        TopicSettings settings = topic(part.topic());
        if (part.isHeader()) {
            settings.header(part.name(), value);
            return true;
        }
        return TopicSettings.GROUP.apply(settings, part.name(), value);
    }

    private TopicSettings topic(String name) {
        return topics.computeIfAbsent(name, TopicSettings::new);
    }

    private static InvalidConfigurationException unknown(String name) {
        String meant =
                nearest(name).map(known -> ": did you mean " + known + "?").orElse(": see docs/configuration.md");
        return new InvalidConfigurationException(name, "is not a property" + meant);
    }

    private static Optional<String> nearest(String name) {
        int dot = name.lastIndexOf('.');
        if (name.startsWith(AdminConfig.OPERATOR) && dot > AdminConfig.OPERATOR.length()) {
            return Nearest.to(name.substring(dot + 1), AdminConfig.OPERATORS.names())
                    .map(setting -> name.substring(0, dot + 1) + setting);
        }
        if (name.startsWith(TOPIC) && dot > TOPIC.length()) {
            return Nearest.to(name.substring(dot + 1), TopicSettings.GROUP.names())
                    .map(suffix -> name.substring(0, dot + 1) + suffix);
        }
        return Nearest.to(name, plainNames());
    }

    private static Set<String> plainNames() {
        Set<String> names = new TreeSet<>();
        Stream.of(
                        PROCESS.names(),
                        TABLES.names(),
                        DISPATCH.names(),
                        MonitoringConfig.GROUP.names(),
                        AdminConfig.GROUP.names())
                .forEach(names::addAll);
        return names;
    }

    private static Duration positive(Value value) {
        Duration duration = value.duration();
        if (duration.isZero()) {
            throw value.invalid("must be longer than 0: a start tries to reach the database for this time");
        }
        return duration;
    }

    private static void deadRetention(DispatchOptions.Builder options, Value value) {
        if (!value.text().equals(FOREVER)) {
            options.deadRetention(value.duration());
        }
    }

    private static void inboxRetention(DispatchOptions.Builder options, Value value) {
        if (value.text().equals(FOREVER)) {
            options.inboxRetentionForever();
        } else {
            options.inboxRetention(value.duration());
        }
    }

    private void check() {
        if (url == null || url.isEmpty()) {
            throw new InvalidConfigurationException(
                    "db.url", "is missing: the JDBC URL of the database, such as jdbc:postgresql://host:5432/name");
        }
        if (password != null && passwordFile != null) {
            throw new InvalidConfigurationException("db.password", "and db.password-file are both given: keep one");
        }
        if (passwordFile != null) {
            password = Passwords.read("db.password-file", passwordFile);
        }
        if (topics.isEmpty()) {
            throw new InvalidConfigurationException(
                    "topic.<name>.url", "is missing: without a topic and its destination there is nothing to deliver");
        }
        admin.check();
        DispatchOptions options = options();
        topics.values().forEach(topic -> topic.checked().checkTimeout(options.lease()));
    }

    Login login() {
        return new Login(String.valueOf(url), user, password);
    }

    Duration connectTimeout() {
        return connectTimeout;
    }

    /** Whether to use the doorbell. Only PostgreSQL supports it. */
    boolean doorbell() {
        return doorbell && login().url().startsWith("jdbc:postgresql:");
    }

    boolean migrateOnStart() {
        return migrateOnStart;
    }

    MonitoringConfig monitoring() {
        return monitoring;
    }

    AdminConfig admin() {
        return admin;
    }

    TableOptions tables() {
        return tables;
    }

    DispatchOptions options() {
        DispatchOptions.Builder builder = DispatchOptions.builder();
        dispatch.forEach(change -> change.accept(builder));
        return builder.build();
    }

    Collection<String> topics() {
        return topics.keySet();
    }

    /** Applies the configuration to a builder. */
    PostriderBuilder into(PostriderBuilder builder) {
        builder.tables(tables).dispatch(options -> dispatch.forEach(change -> change.accept(options)));
        topics.forEach((name, settings) -> builder.topic(name, settings::declare));
        return builder;
    }
}
