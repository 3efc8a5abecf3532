package dev.postrider.torture;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** What consumers do about a message: a row, which nothing but the inbox keeps from being two, and a sum that must come out even. */
final class Effects {

    private Effects() {}

    static void book(Connection connection, String consumer, Message message) throws SQLException {
        String id = message.id().toString();
        try (PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO torture_effect (consumer, message_id, amount) VALUES (?, ?, ?)");
                PreparedStatement update =
                        connection.prepareStatement("UPDATE torture_counter SET n = n + ? WHERE name = ?")) {
            insert.setString(1, label(consumer, message));
            insert.setString(2, id);
            insert.setLong(3, amount(id));
            insert.executeUpdate();
            update.setLong(1, amount(id));
            update.setString(2, sum(label(consumer, message)));
            update.executeUpdate();
        }
    }

    /** From the id, so that everybody can tell: 1 to 64. */
    static long amount(String id) {
        return (UUID.fromString(id).getLeastSignificantBits() & 63) + 1;
    }

    /** A consumer and a tenant: sums are kept for each, so that a consumer who stands still does not stop all others. */
    static String label(String consumer, Message message) {
        return label(consumer, String.valueOf(message.tenant()));
    }

    static String label(String consumer, String tenant) {
        return consumer + "." + tenant;
    }

    /** The row that is raised by the amount. */
    static String sum(String label) {
        return "sum/" + label;
    }
}
