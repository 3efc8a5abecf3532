package dev.postrider.postgresql;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import javax.sql.DataSource;

/**
 * What a pooler in transaction mode does to LISTEN: the statement is run by one connection of the server, and the client reads from
 * another, so that nothing ever arrives.
 */
final class TransactionPooler extends OnlyConnections {

    private static final Set<String> STATEMENTS = Set.of("createStatement", "prepareStatement");

    private final DataSource server;
    private volatile boolean byTheTransaction = true;

    TransactionPooler(DataSource server) {
        this.server = server;
    }

    /** From now on each new client keeps its connection. */
    void becomeSessionPooler() {
        byTheTransaction = false;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection read = server.getConnection();
        return byTheTransaction ? pooled(read, server.getConnection()) : read;
    }

    private Connection pooled(Connection read, Connection run) {
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        run.close();
                    }
                    try {
                        return method.invoke(STATEMENTS.contains(method.getName()) ? run : read, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
