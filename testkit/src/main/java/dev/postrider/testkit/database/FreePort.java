package dev.postrider.testkit.database;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Finds a port for a server that will come back to it after a crash.
 *
 * <p>The ports are below those that Linux, macOS and Windows lend to outgoing connections. From among those, a client that
 * knocks at the dead server's port can be lent that very port, gets connected to itself, and keeps the server from returning.
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
