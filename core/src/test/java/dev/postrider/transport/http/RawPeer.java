package dev.postrider.transport.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A peer that takes one connection and then does to it whatever it likes. */
final class RawPeer implements AutoCloseable {

    interface Script {
        void run(InputStream in, OutputStream out, Socket socket) throws Exception;
    }

    private final ServerSocket server;
    private final Thread thread;
    private final CountDownLatch ended = new CountDownLatch(1);

    RawPeer(Script script) {
        try {
            server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread = new Thread(() -> play(script), "raw-peer");
        thread.setDaemon(true);
        thread.start();
    }

    /** Answers with this text, then waits for the client to hang up. */
    static RawPeer saying(String text) {
        return new RawPeer((in, out, socket) -> {
            readHead(in);
            out.write(text.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
            readToEnd(in);
        });
    }

    static void readHead(InputStream in) throws IOException {
        int matched = 0;
        while (matched < 4) {
            int c = in.read();
            if (c < 0) {
                throw new IOException("the client hung up within the request");
            }
            matched = c == "\r\n\r\n".charAt(matched) ? matched + 1 : c == '\r' ? 1 : 0;
        }
    }

    /** Returns once the client has closed or reset the connection. */
    static void readToEnd(InputStream in) {
        try {
            in.readAllBytes();
        } catch (IOException reset) {
            // Also an end.
        }
    }

    private void play(Script script) {
        try (Socket socket = server.accept()) {
            script.run(socket.getInputStream(), socket.getOutputStream(), socket);
        } catch (Exception expected) {
            // The client may hang up at any moment; what matters is that the script ended.
        } finally {
            ended.countDown();
        }
    }

    /** Waits until the script is over, which for most means that the client has hung up. */
    boolean wasLeft() throws InterruptedException {
        return ended.await(60, TimeUnit.SECONDS);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/");
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
