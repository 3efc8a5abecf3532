package dev.postrider.contracts.crash;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.UnitOfWork;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Durable inboxes of these tests: what their handlers do is done twice if nothing but the inbox keeps it from that. */
final class Desk {

    static final String UNORDERED = "desk";
    static final String ORDERED = "ordered-desk";

    private Desk() {}

    static PostriderBuilder configured(DataSource dataSource) {
        return configured(dataSource, Desk::pay);
    }

    static PostriderBuilder configured(DataSource dataSource, MessageHandler pay) {
        return Postrider.on(dataSource)
                .topic(Orders.TOPIC)
                .inbox(UNORDERED, inbox -> inbox.handler("pay", "*", pay).handler("note", "other", pay))
                .inbox(ORDERED, inbox -> inbox.lanes(1).handler("pay", "*", pay));
    }

    static TopicName queue(String consumer) {
        return new TopicName(TopicName.INBOX_NAMESPACE, consumer + ".pay");
    }

    static void pay(Message message, UnitOfWork work) throws SQLException {
        try (PreparedStatement insert =
                work.connection().prepareStatement("INSERT INTO payment (message) VALUES (?)")) {
            insert.setString(1, message.id().toString());
            insert.executeUpdate();
        }
        work.stage(Message.to(Orders.TOPIC)
                .type("payment.made")
                .key("payment")
                .json("{}")
                .build());
    }
}
