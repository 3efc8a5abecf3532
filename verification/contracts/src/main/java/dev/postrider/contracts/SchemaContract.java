package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.RecordingTransport;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The contract of the schema: migration creates the tables, and a check refuses other tables. Every test gets an empty database. */
public abstract class SchemaContract {

    private static final int VERSIONS = 3;

    /** Creates a new, empty database. */
    protected abstract DataSource emptyDatabase();

    /** Creates a schema and returns its name. On some databases a schema is a database. */
    protected abstract String createSchema(DataSource dataSource) throws SQLException;

    private static JdbcDatabase open(DataSource dataSource) {
        return open(dataSource, TableOptions.defaults());
    }

    private static JdbcDatabase open(DataSource dataSource, TableOptions options) {
        return JdbcDatabase.open(dataSource, options, Duration.ofSeconds(60), event -> {});
    }

    private static void execute(DataSource dataSource, String... statements) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Test
    void migratedDatabasePassesTheCheckAndMigratingAgainDoesNothing() {
        JdbcDatabase database = open(emptyDatabase());
        assertThat(database.migrate()).isEqualTo(VERSIONS);
        assertThat(database.migrate()).isZero();
        assertThatCode(database::check).doesNotThrowAnyException();
    }

    @Test
    void tenProcessesMayMigrateAtOnce() throws Exception {
        DataSource dataSource = emptyDatabase();
        ExecutorService threads = Executors.newFixedThreadPool(10);
        CyclicBarrier barrier = new CyclicBarrier(10);
        try {
            List<Future<Integer>> runs = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                JdbcDatabase database = open(dataSource);
                runs.add(threads.submit(() -> {
                    barrier.await();
                    return database.migrate();
                }));
            }
            int applied = 0;
            for (Future<Integer> run : runs) {
                applied += run.get();
            }
            assertThat(applied).as("by exactly one of them").isEqualTo(VERSIONS);
        } finally {
            threads.shutdownNow();
        }
        assertThatCode(() -> open(dataSource).check()).doesNotThrowAnyException();
    }

    @Test
    void startingWithoutTablesIsRefusedAndNamesTheFix() {
        try (Postrider postrider = Postrider.on(emptyDatabase())
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build()) {
            assertThatThrownBy(postrider::start)
                    .isInstanceOf(SchemaMismatchException.class)
                    .hasMessageContaining("no tables")
                    .hasMessageContaining("postrider migrate");
        }
    }

    @Test
    void writingWithoutTablesIsRefusedAndNamesTheFix() throws SQLException {
        DataSource dataSource = emptyDatabase();
        try (Postrider postrider = Postrider.on(dataSource).topic("t").build();
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> postrider
                            .outbox(connection)
                            .enqueue(Message.to("t").type("x").text("y").build()))
                    .isInstanceOf(SchemaMismatchException.class)
                    .hasMessageContaining("postrider migrate");
            connection.rollback();
        }
    }

    @Test
    void scriptAppliedByHandPassesTheCheck() throws SQLException {
        DataSource dataSource = emptyDatabase();
        execute(dataSource, open(dataSource).script().toArray(String[]::new));
        assertThatCode(() -> open(dataSource).check()).doesNotThrowAnyException();
    }

    @Test
    void olderSchemaIsRefused() throws SQLException {
        refusesAfter("is of version 0|are of version 0", "DELETE FROM postrider_schema");
    }

    @Test
    void newerCompatibleSchemaIsAccepted() throws SQLException {
        DataSource dataSource = emptyDatabase();
        open(dataSource).migrate();
        execute(
                dataSource,
                "INSERT INTO postrider_schema SELECT 99, 1, applied_at FROM postrider_schema WHERE version = 1");
        assertThatCode(() -> open(dataSource).check()).doesNotThrowAnyException();
    }

    @Test
    void newerIncompatibleSchemaIsRefused() throws SQLException {
        refusesAfter(
                "Upgrade Postrider",
                "INSERT INTO postrider_schema SELECT 99, 99, applied_at FROM postrider_schema WHERE version = 1");
    }

    @Test
    void missingColumnIsRefusedByName() throws SQLException {
        refusesAfter("postrider_archive.crashes is missing", "ALTER TABLE postrider_archive DROP COLUMN crashes");
    }

    @Test
    void missingTableIsRefusedByName() throws SQLException {
        refusesAfter("postrider_dedup is missing", "DROP TABLE postrider_dedup");
    }

    @Test
    void viewInPlaceOfATableIsRefused() throws SQLException {
        refusesAfter(
                "postrider_audit is missing or not a table",
                "ALTER TABLE postrider_audit RENAME TO postrider_audit_x",
                "CREATE VIEW postrider_audit AS SELECT * FROM postrider_audit_x");
    }

    @Test
    void columnOfAnotherTypeIsRefusedByName() throws SQLException {
        refusesAfter(
                "postrider_audit.operator is of type",
                "ALTER TABLE postrider_audit DROP COLUMN operator",
                "ALTER TABLE postrider_audit ADD COLUMN operator INT");
    }

    @Test
    void missingIndexIsRefusedByName() throws SQLException {
        DataSource dataSource = emptyDatabase();
        open(dataSource).migrate();
        execute(dataSource, dropIndex("postrider_message_due", "postrider_message"));
        assertThatThrownBy(() -> open(dataSource).check())
                .isInstanceOf(SchemaMismatchException.class)
                .hasMessageContaining("index postrider_message_due is missing");
    }

    /** The statement of this database that drops an index. */
    protected abstract String dropIndex(String index, String table);

    private void refusesAfter(String problem, String... statements) throws SQLException {
        DataSource dataSource = emptyDatabase();
        open(dataSource).migrate();
        execute(dataSource, statements);
        assertThatThrownBy(() -> open(dataSource).check())
                .isInstanceOf(SchemaMismatchException.class)
                .hasMessageMatching("(?s).*(" + problem + ").*");
    }

    @Test
    void twoInstallationsShareADatabaseByPrefixAndBySchema() throws SQLException {
        DataSource dataSource = emptyDatabase();
        String schema = createSchema(dataSource);
        TableOptions plain = TableOptions.defaults();
        for (TableOptions options :
                List.of(plain, plain.with(t -> t.tablePrefix("other_")), plain.with(t -> t.schema(schema)))) {
            JdbcDatabase database = open(dataSource, options);
            assertThat(database.migrate()).as("%s", options).isEqualTo(VERSIONS);
            assertThatCode(database::check).doesNotThrowAnyException();
        }
        List<Postrider> installations = new ArrayList<>();
        installations.add(Postrider.on(dataSource).topic("t").build());
        installations.add(Postrider.on(dataSource)
                .topic("t")
                .tables(t -> t.tablePrefix("other_"))
                .build());
        installations.add(Postrider.on(dataSource)
                .topic("t")
                .tables(t -> t.schema(schema))
                .build());
        installations.forEach(Postrider::register);
        installations
                .get(1)
                .inTransaction(
                        work -> work.stage(Message.to("t").type("x").text("y").build()));
        installations
                .get(2)
                .inTransaction(
                        work -> work.stage(Message.to("t").type("x").text("y").build()));
        installations
                .get(2)
                .inTransaction(
                        work -> work.stage(Message.to("t").type("x").text("y").build()));

        assertThat(installations)
                .extracting(installation -> installation.admin().status().get(0).backlog())
                .containsExactly(0L, 1L, 2L);
        installations.forEach(Postrider::close);
    }

    @Test
    void longestPrefixThatIsAcceptedCanBeMigrated() {
        DataSource dataSource = emptyDatabase();
        TableOptions longest = TableOptions.defaults().with(t -> t.tablePrefix("p" + "x".repeat(39)));
        JdbcDatabase database = open(dataSource, longest);

        assertThat(database.migrate()).isEqualTo(VERSIONS);
        assertThatCode(database::check).doesNotThrowAnyException();
    }

    /** In a pattern of SQL, an underscore matches any character. */
    @Test
    void underscoreInAPrefixIsNoPattern() {
        DataSource dataSource = emptyDatabase();
        assertThat(open(dataSource, TableOptions.defaults().with(t -> t.tablePrefix("tenantx1_")))
                        .migrate())
                .isEqualTo(VERSIONS);
        JdbcDatabase similar = open(dataSource, TableOptions.defaults().with(t -> t.tablePrefix("tenant_1_")));

        assertThat(similar.migrate()).isEqualTo(VERSIONS);
        assertThatCode(similar::check).doesNotThrowAnyException();
    }

    @Test
    void migratingOverAReadOnlyPoolIsRefused() throws SQLException {
        DataSource dataSource = emptyDatabase();
        DataSource readOnly = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(dataSource, arguments);
                    if (answer instanceof Connection connection) {
                        connection.setReadOnly(true);
                    }
                    return answer;
                });
        try (Connection connection = readOnly.getConnection()) {
            if (!connection.isReadOnly()) {
                return; // H2 ignores the setting, and can write
            }
        }
        assertThatThrownBy(() -> open(readOnly).migrate())
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(Problem.READ_ONLY));
    }

    @Test
    void schemaThatDoesNotExistIsRefused() {
        JdbcDatabase database = open(emptyDatabase(), TableOptions.defaults().with(t -> t.schema("no_such_place")));
        for (ThrowingCallable call : List.<ThrowingCallable>of(database::check, database::migrate)) {
            assertThatThrownBy(call)
                    .isInstanceOf(SchemaMismatchException.class)
                    .hasMessageContaining("no_such_place does not exist")
                    .hasMessageContaining("CREATE SCHEMA no_such_place");
        }
    }

    /** The tables of the other schema have other topic numbers. */
    @Test
    void connectionThatIsSwitchedToAnotherSchemaWritesToTheTablesOfItsPostrider() throws SQLException {
        DataSource dataSource = emptyDatabase();
        String elsewhere = createSchema(dataSource);
        RecordingTransport wanted = new RecordingTransport();
        try (Postrider other = Postrider.on(dataSource)
                        .topic("first")
                        .topic("t")
                        .tables(t -> t.schema(elsewhere))
                        .build();
                Postrider postrider = Postrider.on(dataSource)
                        .topic("t", topic -> topic.deliver(wanted))
                        .topic("first")
                        .build()) {
            other.migrate();
            postrider.migrate();
            for (int i = 0; i < 2; i++) {
                Message message = Message.to("t")
                        .type("x")
                        .text("y")
                        .idempotencyKey("k" + i)
                        .build();
                try (Connection connection = dataSource.getConnection()) {
                    connection.setAutoCommit(false);
                    switchTo(connection, elsewhere);
                    postrider.outbox(connection).enqueue(message);
                    connection.commit();
                }
            }
            assertThat(other.admin().status())
                    .extracting(status -> status.backlog())
                    .containsOnly(0L);
            postrider.deliverDue();
            assertThat(wanted.messages()).hasSize(2);
        }
    }

    /** Makes a schema the current one of this connection, as some frameworks and applications do. */
    protected abstract void switchTo(Connection connection, String schema) throws SQLException;

    @Test
    void topicDeclaredDifferentlyByAnotherProcessIsRefused() {
        DataSource dataSource = emptyDatabase();
        try (Postrider first = Postrider.on(dataSource).topic("t").build();
                Postrider second = Postrider.on(dataSource)
                        .topic("t", topic -> topic.tenantPrefixedKeys())
                        .build()) {
            first.migrate();
            assertThatThrownBy(second::register)
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("topic.t.tenant-prefixed-keys");
        }
    }
}
