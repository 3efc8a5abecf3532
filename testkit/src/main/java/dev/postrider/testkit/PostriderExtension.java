package dev.postrider.testkit;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.jdbc.JdbcOptions;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test of JUnit a Postrider that is started, on tables that are migrated and empty:
 *
 * <pre>{@code
 * @RegisterExtension
 * final PostriderExtension extension =
 *         PostriderExtension.on(dataSource, builder -> builder.topic("orders", topic -> topic.deliver(received)));
 * }</pre>
 *
 * <p>A test takes it as a parameter of the type {@link Postrider}, or from {@link #postrider()}. It is closed after the test. Needs
 * JUnit on the class path. For tests that run one after the other: two tests at once need a database each.
 */
public final class PostriderExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

    private final DataSource dataSource;
    private final Consumer<PostriderBuilder> configuration;
    private final JdbcOptions tables;
    private final boolean started;
    private @Nullable Postrider postrider;

    private PostriderExtension(
            DataSource dataSource, Consumer<PostriderBuilder> configuration, JdbcOptions tables, boolean started) {
        this.dataSource = Objects.requireNonNull(dataSource);
        this.configuration = Objects.requireNonNull(configuration);
        this.tables = tables;
        this.started = started;
    }

    /** @param configuration declares topics, inboxes and listeners, once for each test */
    public static PostriderExtension on(DataSource dataSource, Consumer<PostriderBuilder> configuration) {
        return new PostriderExtension(dataSource, configuration, JdbcOptions.defaults(), true);
    }

    /** The same with tables of another schema or prefix. To be said here, not in the configuration. */
    public PostriderExtension tables(UnaryOperator<JdbcOptions> change) {
        return new PostriderExtension(dataSource, configuration, change.apply(tables), started);
    }

    /** The same with a Postrider that is not started: messages are delivered when the test calls {@code deliverDue()}. */
    public PostriderExtension notStarted() {
        return new PostriderExtension(dataSource, configuration, tables, false);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        PostriderBuilder builder = Postrider.on(dataSource).tables(defaults -> tables);
        configuration.accept(builder);
        Postrider made = builder.build();
        postrider = made;
        made.migrate();
        new PostriderTables(dataSource, tables.schema(), tables.tablePrefix()).empty();
        if (started) {
            made.start();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (postrider != null) {
            postrider.close();
            postrider = null;
        }
    }

    /**
     * The Postrider of the test that is running.
     *
     * @throws IllegalStateException outside of a test
     */
    public Postrider postrider() {
        if (postrider == null) {
            throw new IllegalStateException("There is a Postrider only while a test runs");
        }
        return postrider;
    }

    /** Lets time pass for what this Postrider keeps. */
    public DatabaseClock clock() {
        return new DatabaseClock(dataSource, tables.schema(), tables.tablePrefix());
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Postrider.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return postrider();
    }
}
