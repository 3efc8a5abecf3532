package dev.postrider.testkit;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.store.TableOptions;
import java.util.Objects;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A JUnit extension that creates a started {@link Postrider} for each test, on migrated and empty tables:
 *
 * <pre>{@code
 * @RegisterExtension
 * final PostriderExtension extension =
 *         PostriderExtension.on(dataSource, builder -> builder.topic("orders", topic -> topic.deliver(received)));
 * }</pre>
 *
 * <p>A test gets the Postrider as a parameter of that type, or from {@link #postrider()}. The extension closes it after the test. It
 * needs JUnit on the class path. Tests must run one after another: parallel tests need a database each.
 */
public final class PostriderExtension implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

    private final DataSource dataSource;
    private final Consumer<PostriderBuilder> configuration;
    private final TableOptions tables;
    private final boolean started;
    private @Nullable Postrider postrider;

    private PostriderExtension(
            DataSource dataSource, Consumer<PostriderBuilder> configuration, TableOptions tables, boolean started) {
        this.dataSource = Objects.requireNonNull(dataSource);
        this.configuration = Objects.requireNonNull(configuration);
        this.tables = tables;
        this.started = started;
    }

    /** @param configuration declares topics, inboxes and listeners; called once for each test */
    public static PostriderExtension on(DataSource dataSource, Consumer<PostriderBuilder> configuration) {
        return new PostriderExtension(dataSource, configuration, TableOptions.defaults(), true);
    }

    /** Returns a copy for tables with another schema or prefix. Set them here, not in the configuration. */
    public PostriderExtension tables(Consumer<TableOptions.Builder> change) {
        return new PostriderExtension(dataSource, configuration, tables.with(change), started);
    }

    /** Returns a copy that does not start Postrider. The test delivers messages by {@code deliverDue()}. */
    public PostriderExtension notStarted() {
        return new PostriderExtension(dataSource, configuration, tables, false);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        PostriderBuilder builder = Postrider.on(dataSource).tables(tables);
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
     * @throws IllegalStateException if no test is running
     */
    public Postrider postrider() {
        if (postrider == null) {
            throw new IllegalStateException("There is a Postrider only while a test runs");
        }
        return postrider;
    }

    /** A clock for the tables of this Postrider. */
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
