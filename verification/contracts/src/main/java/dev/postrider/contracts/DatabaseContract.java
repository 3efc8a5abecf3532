package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.testkit.DatabaseClock;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;

/**
 * The common parts of the contracts: a database, a Postrider on it, and methods that read the rows. Each test uses its own topic, so
 * tests do not affect each other.
 */
public abstract class DatabaseContract {

    /**
     * The rows that no statement may leave behind. The statements rely on these rules, and PostgreSQL has no CHECK for them: it would cost
     * every insert. Each committed row obeys them at any time, so the rows of other tests may be read with those of this one.
     */
    private static final String UNSOUND = """
            SELECT state FROM postrider_message
            WHERE NOT CASE
                WHEN state = 'PROCESSING'
                    THEN lane IS NULL AND lease_token IS NOT NULL AND locked_until IS NOT NULL AND reason IS NULL
                WHEN lease_token IS NOT NULL OR locked_until IS NOT NULL THEN FALSE
                WHEN state = 'PENDING' THEN reason IS NULL
                WHEN state IN ('SCHEDULED', 'RETRY', 'BLOCKED') THEN lane IS NOT NULL AND reason IS NULL
                WHEN state = 'PARKED' THEN lane IS NOT NULL AND reason IS NOT NULL
                WHEN state = 'DEAD' THEN reason IS NOT NULL AND updated_at IS NOT NULL
                ELSE FALSE END
               OR attempts < 0 OR crashes < 0
               OR available_at < '1970-01-01 00:00:00' OR available_at > '9999-12-31 23:59:59'
            """;

    /** The topic of this test. */
    protected final String topic = "t-" + UUID.randomUUID().toString().substring(0, 8);

    private final List<Postrider> opened = new ArrayList<>();

    /** The database of all tests of a class. The first test creates the tables. */
    protected abstract DataSource dataSource();

    /** Whether two transactions can claim, or write the same key, at the same time. H2 supports only one at a time. */
    protected boolean isConcurrent() {
        return true;
    }

    protected final void needsConcurrency() {
        needs(isConcurrent(), "this database serves one transaction at a time");
    }

    /** Aborts the test if a condition is not met, and prints the reason, so that no test is skipped silently. */
    final void needs(boolean met, String otherwise) {
        if (!met) {
            System.err.println("NOT RUN: " + getClass().getSimpleName() + ": " + otherwise);
        }
        Assumptions.assumeTrue(met, otherwise);
    }

    @AfterEach
    void closeAll() throws SQLException {
        opened.forEach(Postrider::close);
        if (!opened.isEmpty()) {
            assertThat(list(UNSOUND))
                    .as("states of rows that break the rules of the message table")
                    .isEmpty();
        }
    }

    /** Opens a Postrider that declares {@link #topic} without a destination, and creates the tables. */
    protected final Postrider postrider() {
        return postrider(builder -> builder.topic(topic));
    }

    protected final Postrider postrider(UnaryOperator<PostriderBuilder> configuration) {
        Postrider postrider = configuration.apply(Postrider.on(dataSource())).build();
        opened.add(postrider);
        postrider.migrate();
        return postrider;
    }

    protected final Message.Builder message() {
        return Message.to(topic).type("thing.happened").json("{\"a\":1}");
    }

    /** Writes one message in a separate transaction. */
    protected final Enqueued enqueue(Postrider postrider, Message message) throws SQLException {
        try (Connection connection = transaction()) {
            Enqueued enqueued = postrider.outbox(connection).enqueue(message);
            connection.commit();
            return enqueued;
        }
    }

    protected final void enqueue(Postrider postrider, int count) throws SQLException {
        try (Connection connection = transaction()) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                messages.add(message().json("{\"n\":" + i + "}").build());
            }
            postrider.outbox(connection).enqueueAll(messages);
            connection.commit();
        }
    }

    protected final Connection transaction() throws SQLException {
        Connection connection = dataSource().getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    protected final ClaimRequest request() {
        return ClaimRequest.of(topic, "worker");
    }

    protected final List<Claim> claim(Postrider postrider) {
        return postrider.store().claim(request());
    }

    protected final void advance(Duration time) {
        new DatabaseClock(dataSource()).advance(time);
    }

    protected final void execute(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The first column of the first row, as text; {@code "none"} if there is no row. */
    protected final String query(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "none";
        }
    }

    /** The first column of every row, as text. */
    protected final List<String> list(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(String.valueOf(rows.getString(1)));
            }
            return values;
        }
    }

    /** A member of the packed attributes of each message of a topic, without those that have none. */
    protected final List<String> attributes(String member, String topic) throws SQLException {
        Pattern value = Pattern.compile("\"" + member + "\":\"([^\"]*)\"");
        return list("SELECT attributes FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq").stream()
                .map(value::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .toList();
    }

    /** The number of messages of this test's topic in the live table. */
    protected final long live() throws SQLException {
        return Long.parseLong(query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + topic + "'"));
    }

    protected final long archived() throws SQLException {
        return Long.parseLong(query("SELECT COUNT(*) FROM postrider_archive WHERE topic = '" + topic + "'"));
    }

    /** A column of the only message of this topic. */
    protected final String column(String column) throws SQLException {
        return query("SELECT " + column + " FROM postrider_message WHERE topic = '" + topic + "'");
    }

    final String product() throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            return connection.getMetaData().getDatabaseProductName();
        }
    }

    /** An end of the transaction that no text shows. */
    final String hiddenCommit() throws SQLException {
        switch (product()) {
            case "PostgreSQL" -> {
                return "CREATE TEMP TABLE IF NOT EXISTS hidden (note TEXT DEFAULT ';'); COMMIT";
            }
            case "H2" -> {
                return "SET CACHE_SIZE 4096";
            }
            default -> {
                execute("DROP PROCEDURE IF EXISTS hidden_commit");
                execute("CREATE PROCEDURE hidden_commit() COMMIT");
                return "CALL hidden_commit()";
            }
        }
    }
}
