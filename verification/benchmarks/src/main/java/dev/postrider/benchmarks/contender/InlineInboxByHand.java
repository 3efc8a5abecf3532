package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** The inline inbox by hand, on a table of the same kind and with the same guarantees: a payload hash detects collisions. */
public final class InlineInboxByHand extends Effects {

    private static final String MARK =
            "INSERT INTO hand_inbox_mark (message_id, consumer, tenant, payload_hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";

    private final DataSource dataSource;
    private final Postrider tables;

    public InlineInboxByHand(Arena arena, DataSource dataSource) {
        super("inbox by hand", arena, List.of("hand_inbox_mark"));
        this.dataSource = dataSource;
        tables = Postrider.on(dataSource)
                .tables(options -> options.tablePrefix("hand_"))
                .topic("orders")
                .build();
    }

    @Override
    public void prepare() {
        tables.migrate();
    }

    @Override
    public void transact(Order order) throws SQLException {
        Message received = InlineInbox.received(order);
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            if (mark(connection, received)) {
                order.insert(connection);
            }
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static boolean mark(Connection connection, Message received) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(MARK)) {
            statement.setObject(1, received.id().value());
            statement.setString(2, "billing");
            statement.setString(3, "");
            statement.setBytes(4, HandWritten.sha256(received.payload().bytes()));
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    public void close() {
        tables.close();
    }
}
