package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.jdbc.diagnosis.DiagnosisFinding;
import dev.postrider.jdbc.diagnosis.DiagnosisLimits;
import dev.postrider.jdbc.diagnosis.Severity;
import dev.postrider.message.Message;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Each check of the diagnosis finds what it looks for, and its fix fixes it. Each test has a database of its own. */
@ParameterizedClass(name = "{0}")
@EnumSource(Engine.class)
final class DiagnosisTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Reports every figure. */
    private static final DiagnosisLimits STRICT = new DiagnosisLimits(-1, 100, Duration.ofMillis(-1));

    private final Engine engine;
    private final Database place;
    private final DataSource database;
    private final Postrider postrider;

    DiagnosisTest(Engine engine) {
        this.engine = engine;
        this.place = Databases.assumeStarted(engine).createDatabase("diagnosis");
        this.database = place.dataSource();
        this.postrider = Postrider.on(database).topic("orders").build();
        postrider.migrate();
    }

    @AfterEach
    void close() {
        postrider.close();
    }

    private boolean isPostgres() {
        return engine.name().startsWith("POSTGRESQL");
    }

    private boolean isH2() {
        return engine == Engine.H2;
    }

    private static List<DiagnosisFinding> diagnose(DataSource dataSource, DiagnosisLimits limits) {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), LIMIT, event -> {})
                .diagnosis(limits)
                .run();
    }

    private List<DiagnosisFinding> find(String check, DiagnosisLimits limits) {
        return diagnose(database, limits).stream()
                .filter(finding -> finding.check().equals(check))
                .toList();
    }

    private List<DiagnosisFinding> find(String check) {
        return find(check, DiagnosisLimits.defaults());
    }

    private void write(String key, String json) {
        postrider.inTransaction(work -> work.stage(Message.to("orders")
                .type("order.placed")
                .idempotencyKey(key)
                .json(json)
                .build()));
    }

    private void writeMany(int number) {
        postrider.inTransaction(work -> {
            for (int i = 0; i < number; i++) {
                work.stage(Message.to("orders")
                        .type("order.placed")
                        .json("{\"n\":" + i + "}")
                        .build());
            }
        });
    }

    private void execute(String sql) throws SQLException {
        Sql.execute(database, sql);
    }

    @Test
    void newTablesNeedNothing() {
        writeMany(3);

        assertThat(diagnose(database, DiagnosisLimits.defaults()))
                .filteredOn(finding -> !finding.check().equals("settings"))
                .hasSize(8)
                .allSatisfy(finding ->
                        assertThat(finding.severity()).as(finding.text()).isEqualTo(Severity.OK));
    }

    @Test
    void timeIsThatOfTheDatabase() {
        Instant before = Instant.now();

        Instant now = JdbcDatabase.open(database, TableOptions.defaults(), LIMIT, event -> {})
                .diagnosis(DiagnosisLimits.defaults())
                .now();

        assertThat(now).isBetween(before.minusSeconds(60), Instant.now().plusSeconds(60));
    }

    @Test
    void databaseIsUnusedUntilTheFirstMessage() {
        JdbcDatabase opened = JdbcDatabase.open(database, TableOptions.defaults(), LIMIT, event -> {});

        assertThat(opened.diagnosis(DiagnosisLimits.defaults()).isUnused()).isTrue();
        writeMany(1);
        assertThat(opened.diagnosis(DiagnosisLimits.defaults()).isUnused()).isFalse();
    }

    @Test
    void missingIndexIsFoundWithTheStatementThatCreatesIt() throws SQLException {
        String index = isPostgres() ? "postrider_message_leased" : "postrider_message_lane";
        execute("DROP INDEX " + index + (isPostgres() || isH2() ? "" : " ON postrider_message"));

        List<DiagnosisFinding> findings = find("indexes");

        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.severity()).isEqualTo(Severity.ERROR);
            assertThat(finding.text()).contains(index, "missing");
        });
        execute(String.valueOf(findings.get(0).fix()));
        assertThat(find("indexes"))
                .singleElement()
                .extracting(DiagnosisFinding::severity)
                .isEqualTo(Severity.OK);
    }

    @Test
    void invalidIndexIsFoundAndBuiltAgain() throws SQLException {
        if (isPostgres()) {
            execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'postrider_message_dead'::regclass");

            List<DiagnosisFinding> findings = find("indexes");

            assertThat(findings)
                    .singleElement()
                    .extracting(DiagnosisFinding::text)
                    .asString()
                    .contains("not valid");
            execute(String.valueOf(findings.get(0).fix()));
        }
        assertThat(find("indexes"))
                .singleElement()
                .extracting(DiagnosisFinding::severity)
                .isEqualTo(Severity.OK);
    }

    @Test
    void frequentStatementThatReadsTheWholeTableIsFound() throws SQLException {
        writeMany(300);
        if (isPostgres()) {
            execute("DROP INDEX postrider_message_due");
            execute("ANALYZE postrider_message");
        } else if (!isH2()) {
            execute("ALTER TABLE postrider_message DROP KEY postrider_message_due, DROP KEY postrider_message_lane");
            execute("ANALYZE TABLE postrider_message");
        }

        assertThat(find("plans", STRICT))
                .first()
                .extracting(DiagnosisFinding::severity)
                .isEqualTo(isH2() ? Severity.OK : Severity.WARN);
        assertThat(find("plans")).as("a small table").allMatch(finding -> finding.severity() == Severity.OK);
    }

    @Test
    void removedRowsThatAreNotCleanedUpAreFound() throws SQLException {
        if (isPostgres()) {
            execute("ALTER TABLE postrider_message SET (autovacuum_enabled = false)");
            writeMany(10);
            try (Connection connection = database.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("DELETE FROM postrider_message");
                statement.execute("SELECT pg_stat_force_next_flush()");
                statement.execute("SELECT 1");
            }

            assertThat(find("bloat", STRICT))
                    .extracting(DiagnosisFinding::severity)
                    .contains(Severity.WARN, Severity.ERROR);
            execute("ALTER TABLE postrider_message RESET (autovacuum_enabled)");
            assertThat(find("bloat"))
                    .singleElement()
                    .extracting(DiagnosisFinding::severity)
                    .isEqualTo(Severity.OK);
        } else {
            assertThat(find("bloat", STRICT))
                    .singleElement()
                    .extracting(DiagnosisFinding::severity)
                    .isEqualTo(isH2() ? Severity.OK : Severity.WARN);
        }
    }

    @Test
    void oldTransactionIsFoundAndItsSessionEnded() throws SQLException {
        try (Connection old = database.getConnection()) {
            old.setAutoCommit(false);
            try (Statement statement = old.createStatement()) {
                statement.execute("UPDATE postrider_topic SET paused = FALSE");

                List<DiagnosisFinding> findings = find("transactions", STRICT);

                if (isH2()) {
                    assertThat(findings)
                            .singleElement()
                            .extracting(DiagnosisFinding::severity)
                            .isEqualTo(Severity.OK);
                    return;
                }
                assertThat(findings).singleElement().satisfies(finding -> {
                    assertThat(finding.severity()).isEqualTo(Severity.WARN);
                    assertThat(finding.text()).contains("Session ");
                });
                execute(String.valueOf(findings.get(0).fix()).replace(";", ""));
                assertThatThrownBy(() -> statement.execute("SELECT 1")).isInstanceOf(SQLException.class);
            }
        } catch (SQLException e) {
            assertThat(isH2())
                    .as("only the ended session may fail to close: " + e)
                    .isFalse();
        }
    }

    @Test
    void rowThatBreaksTheRulesIsFound() throws SQLException {
        writeMany(2);
        if (isPostgres()) {
            execute("UPDATE postrider_message SET state = 'ODD'");
        } else {
            assertThatThrownBy(() -> execute("UPDATE postrider_message SET lease_token = id"))
                    .isInstanceOf(SQLException.class);
        }

        List<DiagnosisFinding> findings = find("rows");

        assertThat(findings)
                .hasSize(isPostgres() ? 2 : 1)
                .allMatch(finding -> finding.severity() == (isPostgres() ? Severity.ERROR : Severity.OK));
    }

    @Test
    void onePayloadUnderSeveralKeysIsFound() {
        write("order-1", "{\"order\":1}");
        write("order-2", "{\"order\":2}");
        assertThat(find("payloads"))
                .singleElement()
                .extracting(DiagnosisFinding::severity)
                .isEqualTo(Severity.OK);

        write("attempt-2-of-order-1", "{\"order\":1}");

        assertThat(find("payloads")).singleElement().satisfies(finding -> {
            assertThat(finding.severity()).isEqualTo(Severity.WARN);
            assertThat(finding.text()).contains("'orders'", "2 idempotency keys");
        });
    }

    @Test
    void onePayloadUnderSeveralIdsOfItsProducerIsFound() throws Exception {
        for (String id : List.of("a", "a", "b")) {
            postrider
                    .inbox("billing")
                    .process(
                            Message.received("payments", id)
                                    .type("payment.made")
                                    .json("{\"payment\":1}")
                                    .build(),
                            work -> {});
        }

        assertThat(find("ids")).singleElement().satisfies(finding -> {
            assertThat(finding.severity()).isEqualTo(Severity.WARN);
            assertThat(finding.text()).contains("'billing'", "2 ids");
        });
    }

    @Test
    void poolerThatChangesTheSessionIsFound() throws SQLException {
        try (Connection first = database.getConnection();
                Connection second = database.getConnection()) {
            assertThat(diagnose(new Rotating(first, second), DiagnosisLimits.defaults()))
                    .filteredOn(finding -> finding.check().equals("pooler"))
                    .singleElement()
                    .satisfies(finding -> {
                        assertThat(finding.severity()).isEqualTo(Severity.WARN);
                        assertThat(finding.text()).contains("2 sessions");
                    });
        }
    }

    /** On PostgreSQL and H2 every user may see what the checks read. */
    @Test
    void checkThatTheUserMayNotMakeIsNamed() throws SQLException {
        DataSource asked = database;
        if (!isPostgres() && !isH2()) {
            String user = "u" + Long.toString(System.nanoTime(), 36);
            execute("CREATE USER " + user + "@'%' IDENTIFIED BY 'secret'");
            execute("GRANT SELECT ON " + place.name() + ".* TO " + user + "@'%'");
            asked = new Database(place.name(), place.jdbcUrl(), user, "secret").dataSource();
        }

        assertThat(diagnose(asked, DiagnosisLimits.defaults()))
                .filteredOn(finding -> finding.text().startsWith("Not checked"))
                .extracting(DiagnosisFinding::check)
                .isEqualTo(isPostgres() || isH2() ? List.of() : List.of("bloat"));
    }

    /** Runs each statement in the next of two sessions, as a pooler in the mode of statements does. */
    private record Rotating(Connection first, Connection second, AtomicInteger number) implements DataSource {

        Rotating(Connection first, Connection second) {
            this(first, second, new AtomicInteger());
        }

        @Override
        public Connection getConnection() {
            return (Connection) Proxy.newProxyInstance(
                    Rotating.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        boolean runs = method.getName().equals("prepareStatement")
                                || method.getName().equals("createStatement");
                        if (method.getName().equals("close")) {
                            return null;
                        }
                        try {
                            return method.invoke(runs && number.getAndIncrement() % 2 == 1 ? second : first, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public Connection getConnection(String user, String password) {
            return getConnection();
        }

        @Override
        public PrintWriter getLogWriter() throws SQLException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("not a wrapper");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }
    }
}
