package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Sql;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Locale;

/** The row of every business transaction, and the content of its message: 250 bytes of JSON that begin with the number. */
public record Order(int number) {

    private static final String HEAD = "{\"number\":\"";
    private static final int DIGITS = 10;
    private static final int BYTES = 250;
    private static final BigDecimal AMOUNT = new BigDecimal("42.50");

    /** Writes the order in the transaction of this connection. */
    void insert(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(Sql.INSERT_ORDER)) {
            statement.setInt(1, number);
            statement.setString(2, "customer-" + number % 1000);
            statement.setBigDecimal(3, AMOUNT);
            statement.executeUpdate();
        }
    }

    public String json() {
        return json(BYTES);
    }

    /** The same content, of another size. */
    public String json(int bytes) {
        String start = HEAD + String.format(Locale.ROOT, "%010d", number) + "\",\"note\":\"";
        return start + "x".repeat(bytes - start.length() - 2) + "\"}";
    }

    static int numberIn(String json) {
        return Integer.parseInt(json, HEAD.length(), HEAD.length() + DIGITS, 10);
    }

    static int numberIn(byte[] json) {
        return Integer.parseInt(new String(json, HEAD.length(), DIGITS, StandardCharsets.US_ASCII));
    }
}
