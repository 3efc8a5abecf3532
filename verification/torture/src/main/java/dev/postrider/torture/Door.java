package dev.postrider.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.function.Consumer;

/** Accepts connections until the server socket is closed. */
final class Door {

    private Door() {}

    /**
     * @param name the name of the accepting thread
     * @param connections the set of open connections; {@code serve} removes a connection when it ends
     * @param serve called for each connection on its own thread
     */
    static void open(String name, ServerSocket door, Set<Socket> connections, Consumer<Socket> serve) {
        Parent.daemon(name, () -> acceptAll(name, door, connections, serve));
    }

    private static void acceptAll(String name, ServerSocket door, Set<Socket> connections, Consumer<Socket> serve) {
        while (!door.isClosed()) {
            try {
                Socket connection = door.accept();
                connections.add(connection);
                Parent.daemon(name + "-line", () -> serve.accept(connection));
            } catch (IOException e) {
                if (!door.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }
}
