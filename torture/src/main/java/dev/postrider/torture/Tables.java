package dev.postrider.torture;

import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The tables of a run beside Postrider's, and triggers that write down every change of a message's state. */
final class Tables {

    private static final List<String> TABLES = List.of(
            "CREATE TABLE torture_transaction (tx CHAR(36) PRIMARY KEY)",
            "CREATE TABLE torture_counter (name VARCHAR(100) PRIMARY KEY, n BIGINT NOT NULL)",
            "CREATE TABLE torture_effect (consumer VARCHAR(100), message_id CHAR(36), amount BIGINT)",
            "CREATE TABLE torture_command_effect (tenant VARCHAR(50), caller VARCHAR(50), operation VARCHAR(50),"
                    + " command_key VARCHAR(100), call_id CHAR(36))");

    /** Numbered in the order in which the changes were made, as far as they are of the same message: they are made under its lock. */
    private static final String TRANSITION = "CREATE TABLE torture_transition (at_micros BIGINT, seq %s PRIMARY KEY,"
            + " message_id CHAR(36), from_state VARCHAR(20), to_state VARCHAR(20), token VARCHAR(40))";

    private static final String COLUMNS = "torture_transition (at_micros, message_id, from_state, to_state, token)";

    private Tables() {}

    static void create(Engine engine, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(table);
            }
            statement.execute(TRANSITION.formatted(
                    engine == Engine.POSTGRESQL_18
                            ? "BIGINT GENERATED ALWAYS AS IDENTITY"
                            : "BIGINT NOT NULL AUTO_INCREMENT"));
            for (String trigger : engine == Engine.POSTGRESQL_18 ? postgresTriggers() : innoDbTriggers()) {
                statement.execute(trigger);
            }
        }
        fillCounters(connection);
    }

    /** All rows are there from the beginning, so that a number is an update, which every database locks in the same way. */
    private static void fillCounters(Connection connection) throws SQLException {
        Set<String> names = new TreeSet<>();
        for (String topic : List.of(Business.LEDGER, Business.FLOW)) {
            for (int rank = 0; rank < Business.KEYS; rank++) {
                names.add(Business.tenant(rank) + "/" + Business.key(topic, rank));
            }
        }
        for (int which = 0; which < Business.LATE_KEYS; which++) {
            names.add(Business.tenant(which) + "/" + Business.lateKey(which));
            names.add(Effects.sum(Effects.label(Business.INLINE, Business.tenant(which))));
            names.add(Effects.sum(Effects.label(Business.DURABLE, Business.tenant(which))));
        }
        connection.setAutoCommit(false);
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO torture_counter (name, n) VALUES (?, 0)")) {
            for (String name : names) {
                insert.setString(1, name);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static List<String> postgresTriggers() {
        return List.of("""
                CREATE FUNCTION torture_note() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF TG_OP = 'INSERT' THEN
                        INSERT INTO torture_transition (at_micros, message_id, from_state, to_state, token)
                        VALUES (floor(extract(epoch FROM clock_timestamp()) * 1000000), NEW.id::text, NULL, NEW.state, NEW.lease_token::text);
                    ELSIF TG_OP = 'DELETE' THEN
                        INSERT INTO torture_transition (at_micros, message_id, from_state, to_state, token)
                        VALUES (floor(extract(epoch FROM clock_timestamp()) * 1000000), OLD.id::text, OLD.state, NULL, OLD.lease_token::text);
                    ELSE
                        INSERT INTO torture_transition (at_micros, message_id, from_state, to_state, token)
                        VALUES (floor(extract(epoch FROM clock_timestamp()) * 1000000), NEW.id::text, OLD.state, NEW.state, NEW.lease_token::text);
                    END IF;
                    RETURN NULL;
                END $$
                """, """
                CREATE TRIGGER torture_note_row AFTER INSERT OR DELETE ON postrider_message
                FOR EACH ROW EXECUTE FUNCTION torture_note()
                """, """
                CREATE TRIGGER torture_note_change AFTER UPDATE ON postrider_message FOR EACH ROW
                WHEN (OLD.state <> NEW.state OR OLD.lease_token IS DISTINCT FROM NEW.lease_token)
                EXECUTE FUNCTION torture_note()
                """);
    }

    private static List<String> innoDbTriggers() {
        List<String> triggers = new ArrayList<>();
        triggers.add("CREATE TRIGGER torture_note_insert AFTER INSERT ON postrider_message FOR EACH ROW "
                + note("NEW", "NULL", "NEW.state"));
        triggers.add("CREATE TRIGGER torture_note_delete AFTER DELETE ON postrider_message FOR EACH ROW "
                + note("OLD", "OLD.state", "NULL"));
        triggers.add("CREATE TRIGGER torture_note_update AFTER UPDATE ON postrider_message FOR EACH ROW BEGIN"
                + " IF OLD.state <> NEW.state OR NOT (OLD.lease_token <=> NEW.lease_token) THEN "
                + note("NEW", "OLD.state", "NEW.state") + "; END IF; END");
        return triggers;
    }

    private static String note(String row, String from, String to) {
        return "INSERT INTO " + COLUMNS + " VALUES (FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000), " + uuid(row + ".id")
                + ", " + from + ", " + to + ", " + uuid(row + ".lease_token") + ")";
    }

    /** Sixteen bytes as the text of a UUID. */
    static String uuid(String column) {
        String hex = "LOWER(HEX(" + column + "))";
        return "INSERT(INSERT(INSERT(INSERT(" + hex + ", 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')";
    }
}
