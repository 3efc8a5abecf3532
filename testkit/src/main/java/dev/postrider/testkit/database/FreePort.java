package dev.postrider.testkit.database;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds a free port for a server that uses the same port again after a crash.
 *
 * <p>The port is below the range that Linux, macOS and Windows use for outgoing connections. In that range, a client that tries to
 * connect to the crashed server can get the port of the server as its own local port. The client is then connected to itself, and the
 * server cannot use the port again.
 */
final class FreePort {

    private static final int LOWEST = 20_000;
    private static final int BEYOND_HIGHEST = 30_000;
    private static final int ATTEMPTS = 100;

    private FreePort() {}

    static int find() throws IOException {
        BindException last = new BindException("No port was tried");
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST, BEYOND_HIGHEST);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
                return socket.getLocalPort();
            } catch (BindException e) {
                last = e;
            }
        }
        throw last;
    }
}
