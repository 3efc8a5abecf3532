package dev.postrider.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.function.Consumer;

/** Lets in whoever comes, until it is closed. */
final class Door {

    private Door() {}

    /**
     * @param name of the thread that waits at the door
     * @param connections where each connection is noted; whoever serves it takes it out in the end
     * @param serve called on a thread of its own for each
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
