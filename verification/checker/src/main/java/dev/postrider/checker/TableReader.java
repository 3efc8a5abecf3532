package dev.postrider.checker;

import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Calendar;
import java.util.Locale;
import java.util.TimeZone;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads the tables with plain SQL that every engine understands. Streams large results. */
final class TableReader {

    private static final Pattern DELIVER_AT = Pattern.compile("\"deliverAt\":\"([^\"]+)\"");

    private final Connection connection;
    private final History history;
    private final Tables tables = new Tables();

    private TableReader(Connection connection, History history) {
        this.connection = connection;
        this.history = history;
    }

    static Tables read(String url, String user, String password, History history) {
        try (Connection connection = DriverManager.getConnection(url, user, password)) {
            connection.setAutoCommit(false);
            return new TableReader(connection, history).read();
        } catch (SQLException e) {
            throw new UnreadableEvidenceException("Cannot read the tables: " + e.getMessage(), e);
        }
    }

    private interface RowReader {
        void read(ResultSet row) throws SQLException;
    }

    private Tables read() throws SQLException {
        query("SELECT tx FROM torture_transaction", this::transaction);
        query(
                "SELECT seq, id, topic, tenant, ordering_key, state, attempts, reason, attributes FROM postrider_message",
                this::message);
        query("SELECT id FROM postrider_archive", this::archived);
        query("SELECT consumer, message_id, amount FROM torture_effect", this::effect);
        query("SELECT consumer, message_id FROM postrider_inbox_mark", this::mark);
        query("SELECT name, n FROM torture_counter", row -> tables.counters.put(row.getString(1), row.getLong(2)));
        query(
                "SELECT tenant, caller, operation, command_key, call_id FROM torture_command_effect",
                this::commandEffect);
        query(
                "SELECT operation, tenant, state, lease_until, " + now()
                        + " FROM postrider_command WHERE state <> 'COMPLETED'",
                this::openCommand);
        query(
                "SELECT owner FROM postrider_lane WHERE owner IS NOT NULL",
                row -> tables.laneOwners.add(row.getString(1)));
        if (has("torture_transition")) {
            query(
                    "SELECT at_micros, message_id, kind, from_state, to_state, token, lease_end"
                            + " FROM torture_transition ORDER BY seq",
                    this::transition);
        }
        if (has("torture_command_transition")) {
            query(
                    "SELECT at_micros, command_id, from_state, to_state, owner, fence, lease_end, key_end, uncertain"
                            + " FROM torture_command_transition ORDER BY seq",
                    this::commandTransition);
        }
        return tables;
    }

    private void query(String sql, RowReader reader) throws SQLException {
        try (Statement statement =
                connection.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
            statement.setFetchSize(isMySql() ? Integer.MIN_VALUE : 10_000);
            try (ResultSet rows = statement.executeQuery(sql)) {
                while (rows.next()) {
                    reader.read(rows);
                }
            }
        }
    }

    /** The MySQL driver keeps the whole result in memory unless the fetch size requests streaming. */
    private boolean isMySql() throws SQLException {
        return connection.getMetaData().getDriverName().startsWith("MySQL");
    }

    /** The current time in the type of the columns. On InnoDB times are stored in UTC without a zone. */
    private String now() throws SQLException {
        return isInnoDb() ? "utc_timestamp(6)" : "current_timestamp";
    }

    private boolean isInnoDb() throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
        return product.contains("mysql") || product.contains("mariadb");
    }

    private boolean has(String table) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String name = metaData.storesUpperCaseIdentifiers() ? table.toUpperCase(Locale.ROOT) : table;
        try (ResultSet found = metaData.getTables(connection.getCatalog(), null, name, null)) {
            return found.next();
        }
    }

    private void transaction(ResultSet row) throws SQLException {
        int known =
                history.transactions.ids.find(UUID.fromString(row.getString(1).trim()));
        if (known >= 0) {
            tables.transactions.set(known);
        }
    }

    private void message(ResultSet row) throws SQLException {
        tables.rows.add(new Row(
                row.getLong("seq"),
                history.messages.of(uuid(row, "id")),
                row.getString("topic"),
                text(row, "tenant"),
                text(row, "ordering_key"),
                State.of(row.getString("state")),
                row.getInt("attempts"),
                text(row, "reason"),
                deliverAt(text(row, "attributes"))));
    }

    /** Returns the delivery time in microseconds from the packed attributes of a message; zero if it is not scheduled. */
    private static long deliverAt(String attributes) {
        Matcher time = DELIVER_AT.matcher(attributes);
        return time.find() ? ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(time.group(1))) : 0;
    }

    private void archived(ResultSet row) throws SQLException {
        int message = history.messages.of(uuid(row, "id"));
        tables.archived.set(message, tables.archived.get(message) + 1);
    }

    private void effect(ResultSet row) throws SQLException {
        int number = tables.effectOf.add(history.names.of(row.getString("consumer")));
        tables.effect.set(number, history.messages.of(uuid(row, "message_id")));
        tables.amount.set(number, row.getLong("amount"));
    }

    private void mark(ResultSet row) throws SQLException {
        tables.markedBy.add(history.names.of(row.getString("consumer")));
        tables.marked.add(history.messages.of(uuid(row, "message_id")));
    }

    private void commandEffect(ResultSet row) throws SQLException {
        int identity = history.identities.of(History.together(
                text(row, "tenant"), text(row, "caller"), text(row, "operation"), text(row, "command_key")));
        tables.commandEffects.add(new CommandEffect(identity, history.calls.of(uuid(row, "call_id"))));
    }

    private void openCommand(ResultSet row) throws SQLException {
        tables.openCommands.add(new OpenCommand(
                row.getString("operation"),
                text(row, "tenant"),
                row.getString("state"),
                micros(row, "lease_until") - micros(row.getTimestamp(5, utc()))));
    }

    /** A removed row is in the archive, or it was removed for good. */
    private void transition(ResultSet row) throws SQLException {
        int message = history.messages.of(uuid(row, "message_id"));
        String removed = tables.archived.get(message) > 0 ? Step.DELIVERED : Step.GONE;
        String token = text(row, "token").trim();
        int number = tables.changes.add(
                message,
                new Step(row.getString("kind"), state(row, "from_state", Step.NONE), state(row, "to_state", removed)));
        tables.changes.time.set(number, row.getLong("at_micros"));
        tables.changes.token.set(number, token.isEmpty() ? -1 : token(token));
        tables.changes.leaseEnd.set(number, row.getLong("lease_end"));
    }

    private void commandTransition(ResultSet row) throws SQLException {
        tables.commandChanges.add(new CommandChange(
                history.commandRows.of(row.getString("command_id")),
                new Step(Step.COMMAND, state(row, "from_state", Step.NONE), state(row, "to_state", Step.NONE)),
                row.getLong("at_micros"),
                token(row.getString("owner")),
                row.getLong("fence"),
                row.getLong("lease_end"),
                row.getLong("key_end"),
                row.getInt("uncertain") != 0));
    }

    private static String state(ResultSet row, String column, String absent) throws SQLException {
        String state = row.getString(column);
        return state == null ? absent : state;
    }

    private int token(String text) {
        try {
            return history.tokens.of(UUID.fromString(text));
        } catch (IllegalArgumentException e) {
            return history.tokens.of(text);
        }
    }

    private static String text(ResultSet row, String column) throws SQLException {
        String text = row.getString(column);
        return text == null ? "" : text;
    }

    /** Reads a UUID from sixteen bytes, the database's own type, or a text. */
    private static UUID uuid(ResultSet row, String column) throws SQLException {
        Object value = row.getObject(column);
        if (value instanceof byte[] bytes) {
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            return new UUID(buffer.getLong(), buffer.getLong());
        }
        return UUID.fromString(String.valueOf(value).trim());
    }

    private static long micros(ResultSet row, String column) throws SQLException {
        Timestamp time = row.getTimestamp(column, utc());
        return time == null ? 0 : micros(time);
    }

    private static long micros(Timestamp time) {
        return Math.floorDiv(time.getTime(), 1000) * 1_000_000 + time.getNanos() / 1000;
    }

    private static Calendar utc() {
        return Calendar.getInstance(TimeZone.getTimeZone(ZoneOffset.UTC), Locale.ROOT);
    }
}
