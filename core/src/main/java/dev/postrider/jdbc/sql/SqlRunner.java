package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs statements on a connection: it replaces the names of tables and the spelling of times, binds the parameters and reads the result.
 * Immutable, thread-safe.
 */
public final class SqlRunner {

    private final DatabaseKind kind;
    private final Tables tables;
    private final int maxPayloadBytes;

    /** Bounded by the number of statements in this package: the keys are constants, with lists of values in a few lengths. */
    private final Map<String, String> rendered = new ConcurrentHashMap<>();

    private SqlRunner(DatabaseKind kind, Tables tables, int maxPayloadBytes) {
        this.kind = kind;
        this.tables = tables;
        this.maxPayloadBytes = maxPayloadBytes;
    }

    /** @param schema the configured schema; null for the schema of the connection */
    public static SqlRunner of(DatabaseKind kind, @Nullable String schema, String tablePrefix) {
        return new SqlRunner(kind, Tables.of(schema, tablePrefix, kind.schemaQuote()), Integer.MAX_VALUE);
    }

    /** Returns a runner for the same tables whose readers refuse a compressed payload that is larger when decompressed. */
    public SqlRunner withMaxPayloadBytes(int bytes) {
        return new SqlRunner(kind, tables, bytes);
    }

    /** Returns a runner for the same database that names the tables of the given schema in full. */
    public SqlRunner in(String schema) {
        return new SqlRunner(kind, tables.in(schema, kind.quote()), maxPayloadBytes);
    }

    public DatabaseKind kind() {
        return kind;
    }

    public Tables tables() {
        return tables;
    }

    /** The largest payload that a reader decompresses. */
    public int maxPayloadBytes() {
        return maxPayloadBytes;
    }

    /** Returns the statement with the table names of this installation and the expressions of this database. */
    public String sql(String statement) {
        return rendered.computeIfAbsent(statement, this::sqlOnce);
    }

    /** Does the same as {@link #sql} without a cache, for a text that is rarely used again. */
    public String sqlOnce(String statement) {
        return tables.sql(kind.spelled(statement));
    }

    @FunctionalInterface
    public interface Bind {
        void to(Binder binder) throws SQLException;
    }

    @FunctionalInterface
    public interface Read<T> {
        T from(ResultSet rows) throws SQLException;
    }

    public Binder bind(PreparedStatement statement) {
        return new Binder(kind, statement);
    }

    /** Runs a statement that changes rows. Returns how many rows it changed. */
    public int update(Connection connection, String statement, Bind bind) throws SQLException {
        try (PreparedStatement prepared = GuardedConnection.target(connection).prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            return prepared.executeUpdate();
        } catch (SQLException e) {
            throw reported(connection, e);
        }
    }

    /**
     * Changes rows that this transaction has locked. Throws if the statement changes another number of rows, so that the caller
     * rolls the transaction back.
     *
     * @param first binds the parameters before the numbers
     */
    public void change(Connection connection, String update, Collection<Long> seqs, String doing, Bind first)
            throws SQLException {
        if (!seqs.isEmpty()) {
            int met = update(connection, ValueList.in(update, seqs.size()), binder -> {
                first.to(binder);
                ValueList.bindNumbers(binder, seqs);
            });
            expect(seqs.size(), met, doing);
        }
    }

    public static void expect(int wanted, int met, String doing) throws SQLException {
        if (wanted != met) {
            throw new SQLException("Could not " + doing + ": expected " + wanted + " rows but changed " + met);
        }
    }

    /** Runs a statement that returns rows. */
    public <T> T query(Connection connection, String statement, Bind bind, Read<T> read) throws SQLException {
        try (PreparedStatement prepared = GuardedConnection.target(connection).prepareStatement(sql(statement))) {
            bind.to(bind(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                return read.from(rows);
            }
        } catch (SQLException e) {
            throw reported(connection, e);
        }
    }

    /** Does the same as {@link #query} for a statement that is put together from parts, so that its text is not cached. */
    public <T> T queryOnce(Connection connection, String statement, Bind bind, Read<T> read) throws SQLException {
        try (PreparedStatement prepared = GuardedConnection.target(connection).prepareStatement(sqlOnce(statement))) {
            bind.to(bind(prepared));
            try (ResultSet rows = prepared.executeQuery()) {
                return read.from(rows);
            }
        } catch (SQLException e) {
            throw reported(connection, e);
        }
    }

    /** Reports an error to the guard of a unit of work, because statements of this package bypass the guard. */
    private static SQLException reported(Connection connection, SQLException failure) {
        if (connection instanceof GuardedConnection guarded) {
            guarded.failed(failure);
        }
        return failure;
    }

    // Readers of columns and rows

    public UUID readUuid(ResultSet row, String column) throws SQLException {
        return readUuid(row, row.findColumn(column));
    }

    public UUID readUuid(ResultSet row, int column) throws SQLException {
        return kind.readUuid(row, column);
    }

    @Nullable
    public Instant readTime(ResultSet row, String column) throws SQLException {
        return readTime(row, row.findColumn(column));
    }

    @Nullable
    public Instant readTime(ResultSet row, int column) throws SQLException {
        return kind.readTime(row, column);
    }

    /**
     * Reads a time of a row that other software may have written. Returns null also for a value that is no time for the driver, such as
     * MySQL's zero date.
     */
    @Nullable
    public Instant readTimeIfValid(ResultSet row, int column) throws SQLException {
        try {
            return readTime(row, column);
        } catch (DateTimeException e) { // of MariaDB's driver
            return null;
        } catch (SQLException e) {
            if (SqlErrors.isUnavailable(e)) {
                throw e;
            }
            return null;
        }
    }

    @Nullable
    public Instant readTimeIfValid(ResultSet row, String column) throws SQLException {
        return readTimeIfValid(row, row.findColumn(column));
    }

    public static Set<Long> numbers(ResultSet rows) throws SQLException {
        Set<Long> numbers = new TreeSet<>();
        while (rows.next()) {
            numbers.add(rows.getLong("seq"));
        }
        return numbers;
    }

    public Set<UUID> ids(ResultSet rows) throws SQLException {
        Set<UUID> ids = new HashSet<>();
        while (rows.next()) {
            ids.add(readUuid(rows, "id"));
        }
        return ids;
    }

    public Map<Long, UUID> numbersWithIds(ResultSet rows) throws SQLException {
        Map<Long, UUID> ids = new HashMap<>();
        while (rows.next()) {
            ids.put(rows.getLong("seq"), readUuid(rows, "id"));
        }
        return ids;
    }
}
