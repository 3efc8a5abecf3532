package dev.postrider.torture;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/**
 * The effect of a consumer on a message: a row in a table without a unique key, so that only the inbox prevents a second row, and a
 * sum that must match the rows.
 */
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

    /** The amount of a message, derived from its id: 1 to 64. */
    static long amount(String id) {
        return (UUID.fromString(id).getLeastSignificantBits() & 63) + 1;
    }

    /** Consumer and tenant. There is one sum for each pair, so that a paused consumer does not block all others. */
    static String label(String consumer, Message message) {
        return label(consumer, String.valueOf(message.tenant()));
    }

    static String label(String consumer, String tenant) {
        return consumer + "." + tenant;
    }

    /** The name of the counter row that holds the sum. */
    static String sum(String label) {
        return "sum/" + label;
    }
}
