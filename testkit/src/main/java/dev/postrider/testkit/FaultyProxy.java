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
 * Stands between a client and a server and breaks their connections the way networks do: all at once, when new ones are opened,
 * after the server has done what it was asked and before the client hears of it, by being slow, by standing still, or by accepting
 * connections that are never answered. Listens on a free port of 127.0.0.1 and passes everything on until told otherwise. Thread-safe.
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

    /** A proxy before the server of this address, which must name its host and port. */
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

    /** The address that leads through this proxy: the one it was made for, with another host and port. */
    public String jdbcUrl() {
        return jdbcUrl;
    }

    public int port() {
        return door.getLocalPort();
    }

    /** Cuts every connection there is, whatever is going on in it; new ones are passed on. Says how many it cut. */
    public int cut() {
        List<ProxiedConnection> present = List.copyOf(connections);
        present.forEach(ProxiedConnection::cut);
        return present.size();
    }

    /** From now on, hangs up on new connections at once. Those that are open stay. */
    public void refuse() {
        refusing = true;
    }

    /**
     * From now on, accepts new connections and never answers them, as a load balancer without a server or a host that hangs does. They
     * stay unanswered after {@link #accept}. Those that are open stay.
     */
    public void swallow() {
        swallowing = true;
    }

    /** The number of connections that {@link #swallow} has accepted so far. */
    public int swallowed() {
        return swallowed.size();
    }

    /** Passes new connections on again. */
    public void accept() {
        refusing = false;
        swallowing = false;
    }

    /**
     * Lets the next request that holds these bytes of ASCII text reach the server, keeps the answer, and cuts that connection
     * when it comes: the server has done it, the client does not know. With several texts they are waited for one after the
     * other on the same connection, and the answer to the last is lost, such as that to a COMMIT after a certain statement.
     *
     * <p>An answer that is longer than the server's buffer, 8 kB or more with those known, begins before the work is done: ask
     * for less. Statements that a driver has prepared on the server are sent without their text: tell it not to
     * ({@code prepareThreshold=0} for PostgreSQL). An empty text is any request. Only the last call counts; one answer is lost for each.
     *
     * @return done as soon as the connection is cut, with the number of bytes withheld
     */
    public Future<Integer> loseAnswerTo(String... texts) {
        LostAnswer fault = new LostAnswer(List.of(texts), new CompletableFuture<>());
        synchronized (this) {
            lostAnswer = fault;
        }
        return fault.done();
    }

    /** Takes back what {@link #loseAnswerTo} was told, if it has not happened. */
    public synchronized void loseNothing() {
        lostAnswer = LostAnswer.NONE;
    }

    /** From now on, keeps everything back for so long before it is passed on, in both directions; {@link Duration#ZERO} ends that. */
    public void delay(Duration delay) {
        delayNanos = delay.toNanos();
    }

    /**
     * From now on, passes nothing on in either direction: connections, new ones too, look open and are dead. What was sent meanwhile is
     * passed on after {@link #thaw}, unless the connection is cut before.
     */
    public synchronized void freeze() {
        frozen = true;
    }

    /** Lets everything go on. */
    public synchronized void thaw() {
        frozen = false;
        notifyAll();
    }

    /** Waits as long as it was told to be slow or to stand still. */
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

    /** Ends the proxy and every connection through it. */
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

    /** One answer only: true for the first connection that asks for it. */
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
            connection.cut(); // the server is down: so are we
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
            // gone is gone
        }
    }

    /** The fault that waits for its request. */
    private record LostAnswer(List<String> texts, CompletableFuture<Integer> done) {

        static final LostAnswer NONE = new LostAnswer(List.of(), new CompletableFuture<>());
    }

    /** A client's connection and the one to the server that belongs to it. */
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
                // Decided before the request goes on, so that no answer can be quicker.
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
                // One of the two is gone, and the other must not be left waiting.
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
