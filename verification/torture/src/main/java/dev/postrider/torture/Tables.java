package dev.postrider.torture;

import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The tables of a run besides Postrider's, and triggers that record changes of messages and commands. */
final class Tables {

    private static final List<String> TABLES = List.of(
            "CREATE TABLE torture_transaction (tx CHAR(36) PRIMARY KEY)",
            "CREATE TABLE torture_counter (name VARCHAR(100) PRIMARY KEY, n BIGINT NOT NULL)",
            "CREATE TABLE torture_effect (consumer VARCHAR(100), message_id CHAR(36), amount BIGINT)",
            "CREATE TABLE torture_command_effect (tenant VARCHAR(50), caller VARCHAR(50), operation VARCHAR(50),"
                    + " command_key VARCHAR(100), call_id CHAR(36))");

    /**
     * Changes of messages and of commands. Changes of one row are numbered in their order, since they are made under the row's lock.
     * {@code lease_end} and {@code key_end} are those of the row before the change, since a takeover must have waited for them.
     */
    private static final List<String> TRANSITIONS = List.of(
            "CREATE TABLE torture_transition (at_micros BIGINT, seq %s PRIMARY KEY, message_id CHAR(36), kind VARCHAR(10),"
                    + " from_state VARCHAR(20), to_state VARCHAR(20), token VARCHAR(40), lease_end BIGINT)",
            "CREATE TABLE torture_command_transition (at_micros BIGINT, seq %s PRIMARY KEY, command_id VARCHAR(64),"
                    + " from_state VARCHAR(20), to_state VARCHAR(20), owner VARCHAR(40), fence BIGINT, lease_end BIGINT,"
                    + " key_end BIGINT, uncertain INTEGER)");

    /** The number of row pairs for deadlocks. */
    static final int DEADLOCKS = 50;

    private Tables() {}

    /** The tables of the run, without Postrider's. */
    static List<String> names() {
        return Stream.concat(TABLES.stream(), TRANSITIONS.stream())
                .map(table -> table.split(" ")[2])
                .toList();
    }

    static String deadlock(int pair, int which) {
        return "deadlock/" + pair + "/" + which;
    }

    static void create(Engine engine, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute(table);
            }
            for (String table : TRANSITIONS) {
                statement.execute(table.formatted(
                        engine == Engine.POSTGRESQL_18
                                ? "BIGINT GENERATED ALWAYS AS IDENTITY"
                                : "BIGINT NOT NULL AUTO_INCREMENT"));
            }
            for (String trigger : engine == Engine.POSTGRESQL_18 ? PostgresTriggers.ALL : InnoDbTriggers.all()) {
                statement.execute(trigger);
            }
        }
        fillCounters(connection);
    }

    /** All rows exist from the beginning. So a number is drawn by an update, which every database locks in the same way. */
    private static void fillCounters(Connection connection) throws SQLException {
        Set<String> names = new TreeSet<>();
        for (String topic : List.of(Business.LEDGER, Business.FLOW, Business.CLEARING)) {
            for (int rank = 0; rank < Business.KEYS; rank++) {
                names.add(Business.tenant(rank) + "/" + Business.key(topic, rank));
            }
        }
        for (int which = 0; which < Business.LATE_KEYS; which++) {
            names.add(Business.tenant(which) + "/" + Business.lateKey(which));
            for (String consumer : List.of(Business.INLINE, Business.DURABLE, Business.CLEARING, Business.TASKS)) {
                names.add(Effects.sum(Effects.label(consumer, Business.tenant(which))));
            }
        }
        for (int pair = 0; pair < DEADLOCKS; pair++) {
            names.add(deadlock(pair, 0));
            names.add(deadlock(pair, 1));
        }
        names.add(Business.CONTESTED);
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
}
