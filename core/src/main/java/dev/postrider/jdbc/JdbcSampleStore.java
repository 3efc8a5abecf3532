package dev.postrider.jdbc;

import dev.postrider.admin.Sample;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.internal.store.SampleStore;
import dev.postrider.jdbc.schema.SchemaVersion;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sample over JDBC. Its row is locked only during short transactions, never while the rows are counted. Thread-safe. */
final class JdbcSampleStore implements SampleStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcSampleStore.class);

    private static final String READ = """
            SELECT s.content, CASE WHEN s.due_at <= {now} THEN 1 ELSE 0 END AS due, {now} AS now,
                   (SELECT MAX(v.min_compatible) FROM {schema} v) AS min_compatible
            FROM {sample} s
            """;

    /** Skips the row while another node has it: that node is being elected, or stores its sample. */
    private static final String LOCK_DUE =
            "SELECT due_at FROM {sample} WHERE only_one = TRUE AND due_at <= {now} FOR UPDATE SKIP LOCKED";

    private static final String ELECT =
            "UPDATE {sample} SET token = ?, node = ?, due_at = {later} WHERE only_one = TRUE AND due_at <= {now}";

    /** Changes nothing when another node was elected meanwhile. */
    private static final String STORE =
            "UPDATE {sample} SET content = ?, taken_at = ?, due_at = {later} WHERE only_one = TRUE AND token = ?";

    private final Sessions sessions;
    private final SqlRunner sql;
    private final TimeAndIds platform;
    private final SampleCounts counts;

    JdbcSampleStore(Sessions sessions, SqlRunner sql, TimeAndIds platform) {
        this.sessions = sessions;
        this.sql = sql;
        this.platform = platform;
        this.counts = new SampleCounts(sql, platform.nanos());
    }

    @Override
    public Stored read() {
        return sessions.statement(
                "read the sample", connection -> sql.query(connection, READ, binder -> {}, this::stored));
    }

    private Stored stored(ResultSet row) throws SQLException {
        if (!row.next()) {
            throw new SchemaMismatchException("The row of " + sql.tables().qualified("sample")
                    + " is missing: insert it as the schema file V001 does");
        }
        return new Stored(
                sample(row.getString("content")),
                row.getInt("due") == 1,
                Objects.requireNonNull(sql.readTime(row, "now")),
                SchemaVersion.problem(row.getInt("min_compatible")));
    }

    /** A sample that this version cannot read is none: the next one replaces it. */
    private static Optional<Sample> sample(@Nullable String json) {
        try {
            return json == null ? Optional.empty() : Optional.of(Sample.ofJson(json));
        } catch (IllegalArgumentException e) {
            log.debug("The stored sample cannot be read", e);
            return Optional.empty();
        }
    }

    @Override
    public boolean takeIfDue(Duration interval, String node) {
        UUID token = platform.ids().get();
        if (!sessions.transaction("elect the sampling node", connection -> elect(connection, token, interval, node))) {
            return false;
        }
        Sample sample = sessions.statement("take a sample", connection -> counts.take(connection, node));
        Duration pause = sample.pause(interval);
        return sessions.transaction("store a sample", connection -> store(connection, token, pause, sample));
    }

    private boolean elect(Connection connection, UUID token, Duration interval, String node) throws SQLException {
        return sql.query(connection, LOCK_DUE, binder -> {}, ResultSet::next)
                && sql.update(
                                connection,
                                ELECT,
                                binder -> binder.uuid(token).text(node).micros(interval))
                        == 1;
    }

    private boolean store(Connection connection, UUID token, Duration pause, Sample sample) throws SQLException {
        Instant takenAt = sample.takenAt();
        return sql.update(
                        connection,
                        STORE,
                        binder -> binder.text(sample.toJson())
                                .time(takenAt)
                                .micros(pause)
                                .uuid(token))
                == 1;
    }
}
