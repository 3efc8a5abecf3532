package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.message.Message;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** What a consumer of these tests does: for each message a row, which nothing but the inbox keeps from being two, and a message. */
final class Payments {

    static final String TABLE = "CREATE TABLE payment (message VARCHAR(50) NOT NULL)";
    static final String COUNT = "SELECT COUNT(*) FROM payment";

    private Payments() {}

    static Message received() {
        return Message.received("invoices", "invoice-17")
                .type("invoice.sent")
                .json("{\"amount\":17}")
                .build();
    }

    static ProcessResult process(Postrider postrider) throws SQLException {
        Message received = received();
        return postrider.inbox("payments").process(received, work -> {
            try (PreparedStatement insert =
                    work.connection().prepareStatement("INSERT INTO payment (message) VALUES (?)")) {
                insert.setString(1, received.id().toString());
                insert.executeUpdate();
            }
            work.stage(Message.to(Orders.TOPIC)
                    .type("payment.made")
                    .key("payment")
                    .json("{}")
                    .build());
        });
    }
}
