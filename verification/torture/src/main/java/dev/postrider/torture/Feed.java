package dev.postrider.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Delivers received messages to consumers at least once, as a broker does. Delivers each message until a consumer answers that it is
 * done, and some messages twice. Thread-safe.
 */
final class Feed implements AutoCloseable {

    /** One in this many messages is delivered to consumers, half of them to each kind of consumer. */
    private static final int SHARE = 5;

    private static final int TWICE_PERCENT = 10;

    private final ServerSocket door;
    private final Random random;
    private final BlockingQueue<Item> waiting = new LinkedBlockingQueue<>();
    private final AtomicLong open = new AtomicLong();
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();

    /** A received message for a consumer. */
    record Item(boolean durable, String topic, String id, String tenant, String key) {

        static Item parse(String line) {
            String[] fields = line.split("\t", -1);
            return new Item(Boolean.parseBoolean(fields[0]), fields[1], fields[2], fields[3], fields[4]);
        }

        String toLine() {
            return durable + "\t" + topic + "\t" + id + "\t" + tenant + "\t" + key + "\n";
        }
    }

    Feed(long seed) {
        random = new Random(seed);
        try {
            door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Door.open("feed", door, connections, this::serve);
    }

    int port() {
        return door.getLocalPort();
    }

    /** Adds the message if its id is among the selected ones. */
    void offer(Request request) {
        int kind = Math.floorMod(request.id().hashCode(), 2 * SHARE);
        if (kind > 1) {
            return;
        }
        Item item = new Item(kind == 1, request.topic(), request.id(), request.tenant(), request.key());
        add(item);
        boolean twice;
        synchronized (random) {
            twice = random.nextInt(100) < TWICE_PERCENT;
        }
        if (twice) {
            add(item);
        }
    }

    private void add(Item item) {
        open.incrementAndGet();
        waiting.add(item);
    }

    /** The number of messages that are not done. */
    long open() {
        return open.get();
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
            connection.setTcpNoDelay(true);
            while (!door.isClosed()) {
                Item item = waiting.poll(1, TimeUnit.SECONDS);
                if (item != null && !give(item, connection, in)) {
                    waiting.add(item);
                }
            }
        } catch (IOException e) {
            // the consumer disconnected
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            connections.remove(connection);
        }
    }

    /** Returns false if the message has to be delivered again. */
    private boolean give(Item item, Socket connection, BufferedReader in) throws IOException {
        String answer = null;
        try {
            connection.getOutputStream().write(item.toLine().getBytes(StandardCharsets.UTF_8));
            answer = in.readLine();
            if (answer == null) {
                throw new IOException("hung up");
            }
        } catch (IOException e) {
            waiting.add(item);
            throw e;
        }
        if (answer.equals("done")) {
            open.decrementAndGet();
            return true;
        }
        return false;
    }

    @Override
    public void close() {
        try {
            door.close();
            for (Socket connection : connections) {
                connection.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
