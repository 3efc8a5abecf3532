package dev.postrider.jdbc.sql;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Binds the parameters of a statement one after another. Not thread-safe. */
public final class Binder {

    private final DatabaseKind kind;
    private final PreparedStatement statement;
    private int index;

    Binder(DatabaseKind kind, PreparedStatement statement) {
        this.kind = kind;
        this.statement = statement;
    }

    public Binder number(long value) throws SQLException {
        statement.setLong(++index, value);
        return this;
    }

    public Binder numberOrNone(@Nullable Long value) throws SQLException {
        statement.setObject(++index, value, Types.BIGINT);
        return this;
    }

    public Binder integer(int value) throws SQLException {
        statement.setInt(++index, value);
        return this;
    }

    public Binder small(@Nullable Integer value) throws SQLException {
        statement.setObject(++index, value, Types.SMALLINT);
        return this;
    }

    public Binder flag(boolean value) throws SQLException {
        statement.setBoolean(++index, value);
        return this;
    }

    public Binder text(@Nullable String value) throws SQLException {
        statement.setString(++index, value);
        return this;
    }

    public Binder bytes(byte @Nullable [] value) throws SQLException {
        statement.setBytes(++index, value);
        return this;
    }

    public Binder uuid(UUID value) throws SQLException {
        kind.bindUuid(statement, ++index, value);
        return this;
    }

    /** Binds a UUID or null. Works on PostgreSQL only. */
    public Binder uuidOrNone(@Nullable UUID value) throws SQLException {
        statement.setObject(++index, value, Types.OTHER);
        return this;
    }

    public Binder time(@Nullable Instant value) throws SQLException {
        if (value == null) {
            statement.setNull(++index, Types.TIMESTAMP);
        } else {
            kind.bindTime(statement, ++index, value);
        }
        return this;
    }

    public Binder none() throws SQLException {
        statement.setNull(++index, Types.NULL);
        return this;
    }

    public Binder micros(Duration value) throws SQLException {
        return number(toMicros(value));
    }

    /** Binds a PostgreSQL array. */
    public Binder array(String type, @Nullable Object @Nullable [] values) throws SQLException {
        if (values == null) {
            statement.setNull(++index, Types.ARRAY);
        } else {
            // The driver sends a Long[] as numbers and an Object[] as text.
            Object[] typed = type.equals("int8") ? Arrays.copyOf(values, values.length, Long[].class) : values;
            statement.setArray(++index, statement.getConnection().createArrayOf(type, typed));
        }
        return this;
    }

    /** Converts to microseconds. Longer durations count as 10,000 days, which is within the date range of every database. */
    public static long toMicros(Duration duration) {
        long seconds = Math.min(duration.toSeconds(), Duration.ofDays(10_000).toSeconds());
        return seconds * 1_000_000 + duration.toNanosPart() / 1_000;
    }
}
