package dev.postrider.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The destination of all workers, and the record of their deliveries. Records a message before it answers. Sometimes it refuses,
 * answers late or not at all. For a while it can do so often, or be down. Thread-safe.
 */
final class Receiver implements AutoCloseable {

    /** How often it misbehaves. */
    enum Mood {
        USUAL(5, 2, 1),
        SLOW(5, 2, 150),
        REFUSING(500, 2, 1),
        DROPPING(5, 300, 1);

        /** Messages out of a thousand. */
        private final int refused;

        private final int dropped;
        private final int slow;

        Mood(int refused, int dropped, int slow) {
            this.refused = refused;
            this.dropped = dropped;
            this.slow = slow;
        }
    }

    private enum Answer {
        OK,
        REFUSED,
        POISON,
        DROPPED,
        SLOW;

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Whether the message took effect at its destination. */
        boolean taken() {
            return this == OK || this == DROPPED || this == SLOW;
        }
    }

    private static final long LONGEST_DELAY = 10_000;

    private final Journal journal;
    private final Feed feed;
    private final Tally tally;
    private final boolean faultless;
    private final Random random;
    private final int port;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final Map<String, Integer> rejections = new HashMap<>();
    private @Nullable ServerSocket door;
    private volatile Mood mood = Mood.USUAL;
    private volatile boolean closed;

    /** @param faultless accepts every message except poison */
    Receiver(Journal journal, Feed feed, Tally tally, boolean faultless, long seed) {
        this.journal = journal;
        this.feed = feed;
        this.tally = tally;
        this.faultless = faultless;
        this.random = new Random(seed);
        this.port = open(0);
    }

    int port() {
        return port;
    }

    void mood(Mood mood) {
        this.mood = mood;
    }

    /** Stops listening and closes all connections. */
    synchronized void down() {
        try {
            if (door != null) {
                door.close();
            }
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Listens again at the same address. */
    synchronized void up() {
        if (door == null || door.isClosed()) {
            open(port);
        }
    }

    private synchronized int open(int at) {
        try {
            ServerSocket opened = new ServerSocket();
            opened.setReuseAddress(true);
            opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), at), 200);
            door = opened;
            Door.open("receiver", opened, connections, this::serve);
            return opened.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
            connection.setTcpNoDelay(true);
            for (String line = in.readLine(); line != null && !closed; line = in.readLine()) {
                Request request = Request.parse(line);
                Answer answer = receive(request);
                if (answer == Answer.DROPPED) {
                    return;
                }
                if (answer == Answer.SLOW) {
                    LockSupport.parkNanos(delay() * 1_000_000);
                }
                answer(connection, request, answer);
            }
        } catch (IOException e) {
            // the worker or this receiver closed the connection
        } finally {
            connections.remove(connection);
        }
    }

    private void answer(Socket connection, Request request, Answer answer) throws IOException {
        String word = answer == Answer.SLOW ? Answer.OK.word() : answer.word();
        try {
            connection.getOutputStream().write((word + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            if (connection.isClosed()) {
                // The receiver is down. An answer that a disconnected worker misses is not the receiver's fault.
                journal.write("unheard", "id", request.id(), "worker", request.worker());
            }
            throw e;
        }
    }

    private Answer receive(Request request) {
        journal.write(
                "received",
                "id",
                request.id(),
                "topic",
                request.topic(),
                "tenant",
                request.tenant(),
                "key",
                request.key(),
                "number",
                request.number(),
                "hash",
                request.hash(),
                "worker",
                request.worker(),
                "attempt",
                request.attempt());
        Answer answer = decide(request);
        // A slow answer is also recorded at once: its worker may send the message again before it gets the answer.
        journal.write("answered", "id", request.id(), "worker", request.worker(), "result", answer.word());
        tally.received(request.id(), answer.taken());
        if (answer.taken()) {
            feed.offer(request);
        }
        return answer;
    }

    private synchronized Answer decide(Request request) {
        if (request.type().equals(Business.POISON) && isRejected(request.id())) {
            return Answer.POISON;
        }
        if (faultless) {
            return Answer.OK;
        }
        Mood now = mood;
        int lot = random.nextInt(1000);
        if (lot < now.refused) {
            return Answer.REFUSED;
        }
        if (lot < now.refused + now.dropped) {
            return Answer.DROPPED;
        }
        return lot < now.refused + now.dropped + now.slow ? Answer.SLOW : Answer.OK;
    }

    /** Some poison is accepted after one or two rejections, so that a replay can succeed; some never is. */
    private boolean isRejected(String id) {
        int cure = 1 + Math.floorMod(id.hashCode(), 3);
        int before = rejections.merge(id, 1, Integer::sum) - 1;
        return cure == 3 || before < cure;
    }

    /** Mostly short. The longest delay exceeds the timeout of every worker. */
    private synchronized long delay() {
        double point = random.nextDouble();
        return 50 + (long) (point * point * point * LONGEST_DELAY);
    }

    @Override
    public void close() {
        closed = true;
        down();
    }
}
