package dev.postrider.contracts.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * The destination of all workers, and the only witness: it takes one message at a time, refuses some, and keeps a journal of what
 * it accepted, outside the database. Thread-safe.
 */
final class LedgerReceiver implements AutoCloseable {

    /** One in so many is refused, and to be sent again. */
    private static final int REFUSED = 15;

    private final ServerSocket door;
    private final Random random;
    private final Set<Socket> connections = new HashSet<>();
    private final Map<String, Integer> accepted = new HashMap<>();
    private final Map<String, String> acceptedFrom = new HashMap<>();
    private final Map<String, Integer> byWorker = new HashMap<>();
    private final Map<String, Integer> repeatedOf = new HashMap<>();
    private final List<String> violations = new ArrayList<>();
    private int total;

    LedgerReceiver(long seed) {
        random = new Random(seed);
        try {
            door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::acceptAll);
    }

    int port() {
        return door.getLocalPort();
    }

    private void acceptAll() {
        while (!door.isClosed()) {
            try {
                Socket connection = door.accept();
                synchronized (this) {
                    connections.add(connection);
                }
                daemon(() -> serve(connection));
            } catch (SocketException e) {
                return; // closed
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void serve(Socket connection) {
        try (connection;
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8))) {
            connection.setTcpNoDelay(true);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", -1);
                boolean taken = receive(words[0], words[1], Integer.parseInt(words[2]));
                connection.getOutputStream().write(taken ? '+' : '-');
            }
        } catch (IOException e) {
            // the worker is gone
        }
    }

    /** Whatever comes must be the next of its account, or one that was accepted before. */
    private synchronized boolean receive(String worker, String account, int number) {
        int last = accepted.getOrDefault(account, 0);
        if (number > last + 1) {
            violations.add(account + ": " + number + " came from " + worker + " after " + last);
        }
        if (random.nextInt(REFUSED) == 0) {
            return false;
        }
        byWorker.merge(worker, 1, Integer::sum);
        if (number <= last) {
            repeatedOf.merge(acceptedFrom.getOrDefault(account + " " + number, "no worker"), 1, Integer::sum);
        } else {
            accepted.put(account, number);
            total++;
        }
        acceptedFrom.put(account + " " + number, worker);
        return true;
    }

    /** What was out of order. */
    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    /** The last number of each account. */
    synchronized Map<String, Integer> accepted() {
        return Map.copyOf(accepted);
    }

    /** How many different messages were accepted. */
    synchronized int total() {
        return total;
    }

    /** How many of a worker's deliveries were accepted. */
    synchronized int from(String worker) {
        return byWorker.getOrDefault(worker, 0);
    }

    /** How often a message that this worker had delivered came again. */
    synchronized int repeatedOf(String worker) {
        return repeatedOf.getOrDefault(worker, 0);
    }

    @Override
    public void close() {
        try {
            door.close();
            synchronized (this) {
                for (Socket connection : connections) {
                    connection.close();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "ledger-receiver");
        thread.setDaemon(true);
        thread.start();
    }
}
