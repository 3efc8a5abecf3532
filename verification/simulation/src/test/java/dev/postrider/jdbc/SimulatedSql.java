package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import java.lang.reflect.Proxy;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Statements that are known by their text, with what the simulated database does for each. */
final class SimulatedSql {

    /** What a statement answers: rows, or how many it changed. */
    record Answer(List<Map<String, @Nullable Object>> rows, int count) {

        static Answer changed(boolean met) {
            return new Answer(List.of(), met ? 1 : 0);
        }

        static Answer rows(List<Map<String, @Nullable Object>> rows) {
            return new Answer(rows, rows.size());
        }
    }

    /** What a statement does on the server. */
    @FunctionalInterface
    interface Effect {
        Answer run(Session session, Transaction transaction, Parameters parameters) throws SQLException;
    }

    /** The values of a statement, read one after another as they were bound. */
    static final class Parameters {

        private final List<@Nullable Object> values;
        private int next;

        Parameters(List<@Nullable Object> values) {
            this.values = values;
        }

        @Nullable
        Object any() {
            return values.get(next++);
        }

        Object some() {
            return Objects.requireNonNull(any());
        }

        long number() {
            return ((Number) some()).longValue();
        }

        boolean flag() {
            return (Boolean) some();
        }

        @Nullable
        String text() {
            return (String) any();
        }

        String required() {
            return (String) some();
        }

        byte @Nullable [] bytes() {
            return (byte[]) any();
        }

        UUID uuid() {
            return (UUID) some();
        }

        /** How many there are. */
        int count() {
            return values.size();
        }
    }

    private record Known(String doing, Effect effect) {}

    private final Map<String, Known> known = new HashMap<>();
    private final Map<String, String> normal = new HashMap<>();

    private final SqlRunner runner;

    SimulatedSql(SqlRunner runner) {
        this.runner = runner;
    }

    /** @param statement as the runner is given it, with lists of any length in it */
    void add(String statement, String doing, Effect effect) {
        String text = runner.sql(statement.replace("{values}", "?").replace("{owners}", "?"));
        known.put(normalized(text), new Known(doing, effect));
    }

    /** Lists of different lengths are the same statement. */
    private String normalized(String text) {
        return normal.computeIfAbsent(
                text, sql -> sql.replaceAll("IN \\([?, ]+\\)", "IN (list)").strip());
    }

    PreparedStatement prepare(Session session, String text) {
        Known statement = known.get(normalized(text));
        if (statement == null) {
            throw new UnsupportedOperationException("no part of the simulation: " + text);
        }
        Map<Integer, @Nullable Object> bound = new TreeMap<>();
        return proxy(PreparedStatement.class, (method, arguments) -> {
            if (method.startsWith("set")) {
                bound.put((Integer) arguments[0], method.equals("setNull") ? null : arguments[1]);
                return null;
            }
            return switch (method) {
                case "executeUpdate" -> run(session, statement, bound).count();
                case "executeQuery" -> read(run(session, statement, bound).rows());
                case "close" -> null;
                default -> throw new UnsupportedOperationException(method);
            };
        });
    }

    private static Answer run(Session session, Known statement, Map<Integer, @Nullable Object> bound)
            throws SQLException {
        List<@Nullable Object> values = new ArrayList<>(bound.values());
        return session.run(
                statement.doing(), transaction -> statement.effect().run(session, transaction, new Parameters(values)));
    }

    private static ResultSet read(List<Map<String, @Nullable Object>> rows) {
        int[] at = {-1};
        return proxy(ResultSet.class, (method, arguments) -> switch (method) {
            case "next" -> ++at[0] < rows.size();
            case "close" -> null;
            case "findColumn" -> List.copyOf(rows.get(at[0]).keySet()).indexOf(arguments[0]) + 1;
            case "getInt" -> ((Number) some(rows.get(at[0]), arguments[0])).intValue();
            case "getLong" -> ((Number) some(rows.get(at[0]), arguments[0])).longValue();
            case "getBoolean", "getString", "getBytes", "getObject" -> value(rows.get(at[0]), arguments[0]);
            case "getTimestamp" ->
                value(rows.get(at[0]), arguments[0]) instanceof OffsetDateTime time
                        ? Timestamp.from(time.toInstant())
                        : null;
            default -> throw new UnsupportedOperationException(method);
        });
    }

    private static Object some(Map<String, @Nullable Object> row, @Nullable Object column) {
        return Objects.requireNonNull(value(row, column));
    }

    private static @Nullable Object value(Map<String, @Nullable Object> row, @Nullable Object column) {
        return column instanceof Integer number ? new ArrayList<>(row.values()).get(number - 1) : row.get(column);
    }

    @FunctionalInterface
    interface Call {
        @Nullable
        Object to(String method, @Nullable Object[] arguments) throws SQLException;
    }

    static <T> T proxy(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                SimulatedSql.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) ->
                        call.to(method.getName(), arguments == null ? new Object[0] : arguments)));
    }
}
