package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.inbox.Inbox;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** Postrider's inline inbox: the mark and the order in one transaction. */
public final class InlineInbox extends Effects {

    private final Postrider postrider;
    private final Inbox inbox;

    public InlineInbox(Arena arena, DataSource dataSource) {
        super("inbox", arena, List.of("postrider_inbox_mark"));
        postrider = Postrider.on(dataSource).topic("orders").build();
        inbox = postrider.inbox("billing");
    }

    @Override
    public void prepare() {
        postrider.migrate();
    }

    @Override
    public void transact(Order order) throws SQLException {
        inbox.process(received(order), work -> order.insert(work.connection()));
    }

    static Message received(Order order) {
        return Message.to("orders")
                .id(MessageId.next())
                .type("order.placed")
                .json(order.json())
                .build();
    }

    @Override
    public void close() {
        postrider.close();
    }
}
