package dev.postrider.benchmarks.contender;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.database.Arena;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A fenced command by hand in two transactions, on a table of the same kind and with the same guards. */
public final class FencedByHand extends Effects {

    private static final String CLAIM = """
            INSERT INTO hand_command (id, reference, operation, key_prefix, state, owner, fence, lease_micros, lease_until,
                uncertain_if_lost, effect_started, attempts, fingerprint, fingerprint_version, created_at, updated_at, key_expires_at)
            VALUES (?, ?, 'orders.place', 'order', 'IN_PROGRESS', ?, 1, 30000000, clock_timestamp() + interval '30 s', FALSE, FALSE, 1,
                    ?, 1, clock_timestamp(), clock_timestamp(), clock_timestamp() + interval '1 day')
            ON CONFLICT DO NOTHING
            """;

    private static final String COMPLETE = """
            UPDATE hand_command
            SET state = 'COMPLETED', outcome = 'SUCCESS', result_kind = 'INLINE', result_codec = 'text', result = ?,
                updated_at = clock_timestamp(), completed_at = clock_timestamp(),
                result_expires_at = clock_timestamp() + interval '1 day', key_expires_at = clock_timestamp() + interval '1 day'
            WHERE id = ? AND owner = ? AND fence = 1 AND state = 'IN_PROGRESS'
            """;

    private final DataSource dataSource;
    private final Postrider tables;

    public FencedByHand(Arena arena, DataSource dataSource) {
        super("command by hand", arena, List.of("hand_command"));
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
        byte[] id = HandWritten.sha256(("orders.place/order-" + order.number()).getBytes(StandardCharsets.UTF_8));
        byte[] json = order.json().getBytes(StandardCharsets.UTF_8);
        UUID owner = UUID.randomUUID();
        try (Connection connection = dataSource.getConnection()) {
            claim(connection, id, owner, HandWritten.sha256(json));
            connection.setAutoCommit(false);
            order.insert(connection);
            complete(connection, id, owner, json);
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static void claim(Connection connection, byte[] id, UUID owner, byte[] fingerprint) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CLAIM)) {
            statement.setBytes(1, id);
            statement.setObject(2, UUID.randomUUID());
            statement.setObject(3, owner);
            statement.setBytes(4, fingerprint);
            expectOne(statement.executeUpdate());
        }
    }

    private static void complete(Connection connection, byte[] id, UUID owner, byte[] result) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COMPLETE)) {
            statement.setBytes(1, result);
            statement.setBytes(2, id);
            statement.setObject(3, owner);
            expectOne(statement.executeUpdate());
        }
    }

    private static void expectOne(int rows) {
        if (rows != 1) {
            throw new IllegalStateException("another owner has this key");
        }
    }

    @Override
    public void close() {
        tables.close();
    }
}
