package dev.postrider.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A TCP proxy between a client and a server that simulates network faults. It can cut all connections, refuse new ones, lose the
 * answer to a request that the server has executed, delay or stop all data, and accept connections without ever answering them. It
 * listens on a free port of 127.0.0.1 and forwards everything until a method of this class sets a fault. Thread-safe.
 *
 * <pre>{@code
 * try (FaultyProxy proxy = FaultyProxy.before("jdbc:postgresql://127.0.0.1:5432/shop")) {
 *     DataSource dataSource = pool(proxy.jdbcUrl());
 *     Future<Integer> lost = proxy.loseAnswerTo("UPDATE account");
 *     ...
 *     lost.get(10, SECONDS);
 * }
 * }</pre>
 */
public final class FaultyProxy implements AutoCloseable {

    private final InetSocketAddress server;
    private final String jdbcUrl;
    private final ServerSocket door;
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private volatile LostAnswer lostAnswer = LostAnswer.NONE;
    private final Set<Socket> swallowed = ConcurrentHashMap.newKeySet();
    private volatile boolean refusing;
    private volatile boolean swallowing;
    private volatile long delayNanos;
    private boolean frozen;

    private FaultyProxy(InetSocketAddress server, String jdbcUrl) throws IOException {
        this.server = server;
        this.door = new ServerSocket(0, 50, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        this.jdbcUrl =
                jdbcUrl.replace(server.getHostString() + ":" + server.getPort(), "127.0.0.1:" + door.getLocalPort());
        daemon("accept", this::acceptAll);
    }

    /**
     * Starts a proxy for the server of this address.
     *
     * @param jdbcUrl an address with a host and a port
     * @throws IllegalArgumentException if the address has no host or no port
     */
    public static FaultyProxy before(String jdbcUrl) {
        URI address = URI.create(jdbcUrl.substring("jdbc:".length()));
        if (address.getHost() == null || address.getPort() < 0) {
            throw new IllegalArgumentException("No host and port in " + jdbcUrl);
        }
        try {
            return new FaultyProxy(new InetSocketAddress(address.getHost(), address.getPort()), jdbcUrl);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The original address with the host and port of this proxy. */
    public String jdbcUrl() {
        return jdbcUrl;
    }

    public int port() {
        return door.getLocalPort();
    }

    /** Cuts all open connections at once, and returns their number. New connections are forwarded. */
    public int cut() {
        List<ProxiedConnection> present = List.copyOf(connections);
        present.forEach(ProxiedConnection::cut);
        return present.size();
    }

    /** From now on, closes each new connection at once. Open connections stay open. */
    public void refuse() {
        refusing = true;
    }

    /**
     * From now on, accepts new connections and never answers them, like a load balancer without a server or a host that hangs. These
     * connections stay unanswered after {@link #accept}. Connections that were open before still work.
     */
    public void swallow() {
        swallowing = true;
    }

    /** The number of connections that {@link #swallow} has accepted so far. */
    public int swallowed() {
        return swallowed.size();
    }

    /** Forwards new connections again: ends {@link #refuse} and {@link #swallow}. */
    public void accept() {
        refusing = false;
        swallowing = false;
    }

    /**
     * Loses the answer to the next request that contains this ASCII text. The proxy forwards the request, discards the answer, and cuts
     * the connection when the answer arrives: the server has executed the request, and the client has no result. With several texts, the
     * proxy waits for them one after another on the same connection, and loses the answer to the last one. An example is the answer to a
     * COMMIT after a certain statement.
     *
     * <p>Keep the answer smaller than the buffer of the server, which is 8 kB or more for the known servers: the server sends the start
     * of a longer answer before the work is done. A driver sends a statement that it has prepared on the server without its text: turn
     * that off ({@code prepareThreshold=0} for PostgreSQL). An empty text matches every request. Each call replaces the previous one and
     * loses one answer.
     *
     * @return completes when the connection is cut, with the number of bytes that were discarded
     */
    public Future<Integer> loseAnswerTo(String... texts) {
        LostAnswer fault = new LostAnswer(List.of(texts), new CompletableFuture<>());
        synchronized (this) {
            lostAnswer = fault;
        }
        return fault.done();
    }

    /** Cancels the last {@link #loseAnswerTo}, if no answer has been lost yet. */
    public synchronized void loseNothing() {
        lostAnswer = LostAnswer.NONE;
    }

    /** From now on, delays all data by this time, in both directions. {@link Duration#ZERO} ends the delay. */
    public void delay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /**
     * From now on, forwards no data in either direction. All connections, also new ones, look open and transfer nothing. {@link #thaw}
     * forwards the data that was sent in the meantime, unless the connection was cut before.
     */
    public synchronized void freeze() {
        frozen = true;
    }

    /** Ends {@link #freeze}: forwards data again. */
    public synchronized void thaw() {
        frozen = false;
        notifyAll();
    }

    /** Waits for the configured delay, and while the proxy is frozen. */
    private void keepBack() throws InterruptedException {
        long nanos = delayNanos;
        if (nanos > 0) {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
        synchronized (this) {
            while (frozen) {
                wait();
            }
        }
    }

    /** Stops the proxy and closes every connection through it. */
    @Override
    public void close() {
        try {
            door.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            cut();
            swallowed.forEach(FaultyProxy::closeQuietly);
            thaw();
        }
    }

    /** Returns true for the first connection that asks, so that only one answer is lost. */
    private synchronized boolean take(LostAnswer fault) {
        if (!lostAnswer.equals(fault)) {
            return false;
        }
        lostAnswer = LostAnswer.NONE;
        return true;
    }

    private void acceptAll() {
        while (!door.isClosed()) {
            try {
                connect(door.accept());
            } catch (IOException e) {
                if (!door.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void connect(Socket client) throws IOException {
        if (swallowing) {
            swallowed.add(client);
            return;
        }
        Socket upstream = new Socket();
        ProxiedConnection connection = new ProxiedConnection(client, upstream);
        if (refusing) {
            connection.cut();
            return;
        }
        try {
            upstream.connect(server);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
        } catch (IOException e) {
            connection.cut(); // the server is down, so the proxy is down too
            return;
        }
        connections.add(connection);
        daemon("requests", connection::passRequests);
        daemon("answers", connection::passAnswers);
        if (door.isClosed()) {
            connection.cut();
        }
    }

    private static void daemon(String name, Runnable work) {
        Thread thread = new Thread(work, "faulty-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // already closed
        }
    }

    /** A fault that waits for its request. */
    private record LostAnswer(List<String> texts, CompletableFuture<Integer> done) {

        static final LostAnswer NONE = new LostAnswer(List.of(), new CompletableFuture<>());
    }

    /** The connection of a client, and the connection to the server that belongs to it. */
    private final class ProxiedConnection {

        private static final int BUFFER = 64 * 1024;

        private final Socket client;
        private final Socket upstream;
        private final RequestMatcher matcher = new RequestMatcher();
        private volatile LostAnswer losing = LostAnswer.NONE;

        ProxiedConnection(Socket client, Socket upstream) {
            this.client = client;
            this.upstream = upstream;
        }

        void passRequests() {
            pass(client, upstream, (bytes, count) -> {
                LostAnswer fault = lostAnswer;
                // Before the request is forwarded, so that the answer cannot arrive first.
                if (matcher.completes(fault.texts(), bytes, count) && take(fault)) {
                    losing = fault;
                }
                return true;
            });
        }

        void passAnswers() {
            pass(upstream, client, (bytes, count) -> {
                if (losing.equals(LostAnswer.NONE)) {
                    return true;
                }
                cut();
                losing.done().complete(count);
                return false;
            });
        }

        private void pass(Socket from, Socket to, Valve valve) {
            byte[] buffer = new byte[BUFFER];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    keepBack();
                    if (!valve.opensFor(buffer, count)) {
                        break;
                    }
                    out.write(buffer, 0, count);
                }
            } catch (IOException e) {
                // One side closed its connection: close the other side too, so that it does not wait.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                cut();
            }
        }

        void cut() {
            connections.remove(this);
            closeQuietly(client);
            closeQuietly(upstream);
        }
    }

    @FunctionalInterface
    private interface Valve {
        boolean opensFor(byte[] bytes, int count);
    }
}
