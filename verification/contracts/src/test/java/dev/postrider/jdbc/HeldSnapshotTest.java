package dev.postrider.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * While a session holds a snapshot, no delivered message leaves the indexes. Scans that begin where the last ones ended do not step over
 * those: counted in pages, never in seconds. In this package to get at the statements themselves.
 */
final class HeldSnapshotTest {

    private static final int DELIVERED = 5_000;
    private static final int FEW_PAGES = 20;
    private static final int MANY_PAGES = 100;

    /** So short that every one would have run out by the time anybody looks. */
    private static final Duration LEASE = Duration.ofMillis(1);

    private static final Pattern HITS = Pattern.compile("Buffers: shared hit=(\\d+)");

    private final SqlRunner sql = SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX);

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
    void scansPassNoRemovedRow(Engine engine) throws SQLException {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("held").dataSource();
        try (Postrider postrider = Postrider.on(dataSource).topic("own").build()) {
            postrider.migrate();
            try (Connection reader = hold(dataSource)) {
                deliver(postrider);
                Sql.execute(dataSource, "DELETE FROM postrider_archive");
                Sql.execute(dataSource, "ANALYZE postrider_message");
                int topicId = (int) Sql.number(dataSource, "SELECT id FROM postrider_topic");

                for (Question question : Question.values()) {
                    assertThat(pages(dataSource, question, topicId, ScanWindow.EVER))
                            .as("%s, from the beginning", question)
                            .isGreaterThan(MANY_PAGES);
                    assertThat(pages(dataSource, question, topicId, Duration.ofMillis(1)))
                            .as("%s, from where the last look ended", question)
                            .isLessThan(FEW_PAGES);
                }
                reader.rollback();
            }
        }
    }

    /** What is asked again and again. */
    private enum Question {
        DUE(PostgresClaims.CLAIM_DUE),
        EXPIRED(PostgresClaims.CLAIM_EXPIRED),
        LOST(PostgresClaims.SWEEP),
        NEXT(PostgresClaims.NEXT_DUE),
        OLD(PostgresPurges.PURGE_ARCHIVE);

        private final String sql;

        Question(String sql) {
            this.sql = sql;
        }
    }

    private long pages(DataSource dataSource, Question question, int topicId, Duration span) throws SQLException {
        Instant from =
                span.equals(ScanWindow.EVER) ? Instant.EPOCH : Instant.now().minus(span);
        try (Connection connection = dataSource.getConnection();
                PreparedStatement explain = connection.prepareStatement(
                        "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + sql.sql(question.sql))) {
            connection.setAutoCommit(false);
            Binder binder = sql.bind(explain);
            switch (question) {
                case DUE -> claim(binder.integer(topicId).time(from), topicId);
                case EXPIRED -> {
                    claim(binder.integer(topicId).micros(span).integer(100), topicId);
                    binder.text("");
                }
                case LOST ->
                    binder.integer(topicId)
                            .micros(span)
                            .integer(0)
                            .integer(100)
                            .text("")
                            .text("")
                            .text("")
                            .text("");
                case NEXT ->
                    binder.array("int4", new Object[] {topicId})
                            .array("timestamptz", new Object[] {from.toString()})
                            .array("int8", new Object[] {Binder.toMicros(span)});
                case OLD -> binder.micros(Duration.ZERO).micros(span).integer(100);
            }
            long pages = hits(explain);
            connection.rollback();
            return pages;
        }
    }

    private static void claim(Binder binder, int topicId) throws SQLException {
        binder.text(null)
                .text(null)
                .integer(topicId)
                .integer(100)
                .number(Long.MAX_VALUE)
                .uuid(UUID.randomUUID())
                .text("worker")
                .number(30_000_000);
    }

    /** The first line of them is of the whole statement. */
    private static long hits(PreparedStatement explain) throws SQLException {
        try (ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                Matcher matcher = HITS.matcher(row.getString(1));
                if (matcher.find()) {
                    return Long.parseLong(matcher.group(1));
                }
            }
        }
        return 0;
    }

    private static void deliver(Postrider postrider) throws SQLException {
        Message.Builder message = Message.to("own").type("x").text("y".repeat(200));
        postrider.inTransaction(work -> work.stage(Collections.nCopies(DELIVERED, message).stream()
                .map(Message.Builder::build)
                .toList()));
        MessageStore store = postrider.store();
        for (List<Claim> claims = claim(store); !claims.isEmpty(); claims = claim(store)) {
            store.settle(claims.stream().map(Outcome.Delivered::new).toList());
        }
    }

    private static List<Claim> claim(MessageStore store) {
        return store.claim(ClaimRequest.of("own", "worker").lease(LEASE).limit(500));
    }

    private static Connection hold(DataSource dataSource) throws SQLException {
        Connection connection = dataSource.getConnection();
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT count(*) FROM postrider_message");
        }
        return connection;
    }
}
