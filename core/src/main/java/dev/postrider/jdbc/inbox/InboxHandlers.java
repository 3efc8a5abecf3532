package dev.postrider.jdbc.inbox;

import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** The registry of inbox handlers in the database. */
public final class InboxHandlers {

    public static final String OF_CONSUMER =
            "SELECT handler, type FROM {inbox_handler} WHERE consumer = ? ORDER BY handler, type";

    private static final String FIND =
            "SELECT handler, type FROM {inbox_handler} WHERE consumer = ? AND handler = ? AND type = ?";

    private static final String INSERT =
            "INSERT INTO {inbox_handler} (consumer, handler, type, created_at) VALUES (?, ?, ?, {now})";

    private static final String DELETE = "DELETE FROM {inbox_handler} WHERE consumer = ? AND handler = ?";

    private final SqlRunner sql;

    public InboxHandlers(SqlRunner sql) {
        this.sql = sql;
    }

    /** Registers handlers. Must run with autocommit on: a lost race against another node's insert must not abort a transaction. */
    public void register(Connection connection, Collection<InboxHandler> handlers) throws SQLException {
        for (InboxHandler handler : handlers) {
            if (!sql.query(connection, FIND, binder -> named(binder, handler), rows -> rows.next())) {
                insert(connection, handler);
            }
        }
    }

    private void insert(Connection connection, InboxHandler handler) throws SQLException {
        try {
            sql.update(connection, INSERT, binder -> named(binder, handler));
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
        }
    }

    private static Binder named(Binder binder, InboxHandler handler) throws SQLException {
        return binder.text(handler.consumer()).text(handler.name()).text(handler.type());
    }

    /**
     * Reads the handlers of a consumer and locks them against removal until the transaction ends. A retirement waits for the messages that
     * are being distributed to its handler.
     */
    List<InboxHandler> of(Connection connection, String consumer) throws SQLException {
        return sql.query(
                connection, OF_CONSUMER + sql.kind().existenceLock(), binder -> binder.text(consumer), rows -> {
                    List<InboxHandler> handlers = new ArrayList<>();
                    while (rows.next()) {
                        handlers.add(new InboxHandler(consumer, rows.getString("handler"), rows.getString("type")));
                    }
                    return handlers;
                });
    }

    /** @return whether the handler was registered */
    public boolean remove(Connection connection, String consumer, String handler) throws SQLException {
        return sql.update(connection, DELETE, binder -> binder.text(consumer).text(handler)) > 0;
    }
}
