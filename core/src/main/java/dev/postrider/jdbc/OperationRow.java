package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.admin.OperationTerms;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A row of the table of background operations.
 *
 * @param reached the cursor that the operation has reached; null at the beginning
 * @param failures how many steps in a row have failed
 */
record OperationRow(
        Operation operation, String filterJson, @Nullable String reached, int failures) {

    private static final long MICROS_PER_SECOND = 1_000_000;

    static OperationRow read(ResultSet row, SqlRunner sql) throws SQLException {
        String json = row.getString("filter_json");
        OperationTerms terms = new OperationTerms(
                row.getString("operator"), row.getString("reason"), number(row, "message_limit"), rate(row));
        Operation operation = new Operation(
                row.getLong("id"),
                Action.valueOf(row.getString("action")),
                readable(json),
                terms,
                OperationState.valueOf(row.getString("state")),
                row.getLong("changed"),
                row.getLong("skipped"),
                row.getString("node"),
                time(row, "created_at", sql),
                sql.readTime(row, "started_at"),
                time(row, "updated_at", sql),
                sql.readTime(row, "ended_at"),
                row.getString("error"));
        return new OperationRow(operation, json, row.getString("reached"), row.getInt("failures"));
    }

    /** A filter of a later version is shown as it is stored. */
    private static String readable(String json) {
        try {
            return Filter.ofJson(json).toString();
        } catch (IllegalArgumentException e) {
            return json;
        }
    }

    private static @Nullable Long number(ResultSet row, String column) throws SQLException {
        long number = row.getLong(column);
        return row.wasNull() ? null : number;
    }

    private static @Nullable Integer rate(ResultSet row) throws SQLException {
        int rate = row.getInt("per_second");
        return row.wasNull() ? null : rate;
    }

    private static Instant time(ResultSet row, String column, SqlRunner sql) throws SQLException {
        Instant time = sql.readTime(row, column);
        return time == null ? Instant.EPOCH : time;
    }

    long id() {
        return operation.id();
    }

    /** Who started the operation, and why. */
    Change by() {
        return Change.by(operation.terms().operator()).reason(operation.terms().reason());
    }

    /** @throws IllegalArgumentException if this version cannot read the filter */
    Filter filter() {
        return Filter.ofJson(filterJson);
    }

    /** The most messages of the next step: not more than the limit leaves, nor than a second may have. */
    int room(int step) {
        Long limit = operation.terms().limit();
        Integer rate = operation.terms().perSecond();
        long left = limit == null ? step : limit - operation.changed() - operation.skipped();
        return (int) Math.max(0, Math.min(Math.min(left, step), rate == null ? step : rate));
    }

    /** Whether the limit is reached with this number of further messages. */
    boolean isLast(int messages) {
        Long limit = operation.terms().limit();
        return limit != null && operation.changed() + operation.skipped() + messages >= limit;
    }

    /** How long the next step has to wait after one with this number of messages. */
    Duration pauseAfter(int messages) {
        Integer rate = operation.terms().perSecond();
        return rate == null ? Duration.ZERO : Duration.ofNanos(messages * MICROS_PER_SECOND / rate * 1000);
    }
}
