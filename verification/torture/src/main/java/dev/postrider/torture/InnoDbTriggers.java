package dev.postrider.torture;

import java.util.ArrayList;
import java.util.List;

/** Triggers that record changes of messages and commands on MySQL and MariaDB, where a trigger covers only one kind of statement. */
final class InnoDbTriggers {

    private static final String NOW = "FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000)";

    /** The insert of a trigger: {@code row} stands for the present row, {@code was} for the row before the change. */
    private static final String NOTE_MESSAGE =
            "INSERT INTO torture_transition (at_micros, message_id, kind, from_state, to_state, token, lease_end) VALUES ("
                    + NOW + ", " + uuid("{row}.id") + ", IF({row}.lane IS NULL, 'leased', 'laned'), {from}, {to}, "
                    + uuid("{row}.lease_token") + ", " + micros("{was}.locked_until") + ")";

    private static final String NOTE_COMMAND = "INSERT INTO torture_command_transition"
            + " (at_micros, command_id, from_state, to_state, owner, fence, lease_end, key_end, uncertain) VALUES ("
            + NOW
            + ", LOWER(HEX({row}.id)), {from}, {to}, " + uuid("{row}.owner") + ", {row}.fence, "
            + micros("{was}.lease_until") + ", " + micros("{was}.key_expires_at") + ", {was}.uncertain_if_lost)";

    private InnoDbTriggers() {}

    static List<String> all() {
        List<String> triggers = new ArrayList<>();
        triggers.addAll(
                of("message", NOTE_MESSAGE, "OLD.state <> NEW.state OR NOT (OLD.lease_token <=> NEW.lease_token)"));
        triggers.addAll(of(
                "command", NOTE_COMMAND, "OLD.state <> NEW.state OR OLD.owner <> NEW.owner OR OLD.fence <> NEW.fence"));
        return triggers;
    }

    private static List<String> of(String table, String note, String changed) {
        return List.of(
                trigger(
                        table,
                        "insert",
                        filled(note.replaceAll("\\{was}\\.\\w+", "NULL"), "NEW", "", "NULL", "NEW.state")),
                trigger(table, "delete", filled(note, "OLD", "OLD", "OLD.state", "NULL")),
                trigger(
                        table,
                        "update",
                        "BEGIN IF " + changed + " THEN " + filled(note, "NEW", "OLD", "OLD.state", "NEW.state")
                                + "; END IF; END"));
    }

    private static String trigger(String table, String event, String body) {
        return "CREATE TRIGGER torture_" + table + "_" + event + " AFTER " + event + " ON postrider_" + table
                + " FOR EACH ROW " + body;
    }

    private static String filled(String note, String row, String was, String from, String to) {
        return note.replace("{row}", row)
                .replace("{was}", was)
                .replace("{from}", from)
                .replace("{to}", to);
    }

    /** SQL that formats sixteen bytes as a UUID. */
    static String uuid(String column) {
        String hex = "LOWER(HEX(" + column + "))";
        return "INSERT(INSERT(INSERT(INSERT(" + hex + ", 21, 0, '-'), 17, 0, '-'), 13, 0, '-'), 9, 0, '-')";
    }

    /** SQL for microseconds since the epoch, from a UTC time without a zone. */
    private static String micros(String column) {
        return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + column + ")";
    }
}
