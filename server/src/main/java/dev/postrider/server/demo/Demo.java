package dev.postrider.server.demo;

import dev.postrider.admin.TopicStatus;
import dev.postrider.transport.http.Webhook;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Runs the demo. Use one instance once. */
public final class Demo {

    private static final Duration DRAIN_LIMIT = Duration.ofSeconds(60);
    private static final Duration DRAIN_LOOK = Duration.ofMillis(100);

    private final int ordersPerSecond;
    private final Duration length;
    private final Screen screen;
    private final Shop shop = new Shop();
    private long begin;

    /**
     * @param length for how long orders are placed
     * @param terminal whether lines can be overwritten
     */
    public Demo(int ordersPerSecond, Duration length, boolean terminal, PrintWriter out) {
        this.ordersPerSecond = ordersPerSecond;
        this.length = length;
        this.screen = new Screen(out, terminal);
    }

    /** Waits, and returns whether the demo must end now. */
    @FunctionalInterface
    public interface Interruption {
        boolean isAskedWithin(Duration wait);
    }

    /**
     * Runs until the time is over or the end is requested, waits for the last deliveries and prints the result.
     *
     * @return whether every committed order arrived, and nothing else did
     * @throws DemoUnavailableException when this computer cannot run it
     */
    public boolean run(Interruption interruption) {
        screen.say("Starting PostgreSQL, two nodes and a webhook receiver …");
        String secret = newSecret();
        try (DemoDatabase database = DemoDatabase.start();
                Receiver receiver = Receiver.start(secret)) {
            screen.say(
                    database.describe() + "; receiver on port " + receiver.uri().getPort());
            Webhook webhook = Webhook.toInternal(receiver.uri()).signedWith(secret);
            try (Node first = new Node("node-1", database, webhook);
                    Node second = new Node("node-2", database, webhook)) {
                List<Node> nodes = List.of(first, second);
                prepare(nodes);
                takeOrders(nodes, interruption);
                drain(nodes);
                return conclude(nodes, receiver);
            }
        } catch (SQLException e) {
            throw new DemoUnavailableException("The embedded PostgreSQL failed: " + e.getMessage(), e);
        }
    }

    private static String newSecret() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return "whsec_" + Base64.getEncoder().encodeToString(key);
    }

    private static void prepare(List<Node> nodes) throws SQLException {
        Node first = nodes.get(0);
        try (Connection connection = first.pool().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(Shop.CREATE_TABLE);
        }
        first.postrider().migrate();
        nodes.forEach(node -> node.postrider().start());
    }

    /** Lets both nodes place orders at a steady rate, in turns. */
    private void takeOrders(List<Node> nodes, Interruption interruption) {
        screen.say(
                ordersPerSecond + " orders per second, one in 25 rolled back on purpose; the receiver fails one request"
                        + " in 20. Ctrl-C ends it.");
        ScheduledExecutorService clerks = Executors.newScheduledThreadPool(nodes.size());
        List<ScheduledFuture<?>> rounds = new ArrayList<>();
        long period = TimeUnit.SECONDS.toNanos(nodes.size()) / ordersPerSecond;
        for (Node node : nodes) {
            long offset = rounds.size() * period / nodes.size();
            rounds.add(clerks.scheduleAtFixedRate(
                    () -> shop.place(node.postrider()), offset, period, TimeUnit.NANOSECONDS));
        }
        begin = System.nanoTime();
        long end = begin + length.toNanos();
        while (System.nanoTime() - end < 0 && !interruption.isAskedWithin(next(end))) {
            progress(nodes);
        }
        rounds.forEach(round -> round.cancel(false));
        close(clerks);
    }

    private Duration next(long end) {
        Duration left = Duration.ofNanos(Math.max(0, end - System.nanoTime()));
        return left.compareTo(screen.interval()) < 0 ? left : screen.interval();
    }

    /** Returns when the last order is either committed or not. */
    private static void close(ScheduledExecutorService clerks) {
        clerks.shutdown();
        try {
            if (!clerks.awaitTermination(DRAIN_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                clerks.shutdownNow();
            }
        } catch (InterruptedException e) {
            clerks.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private TopicStatus progress(List<Node> nodes) {
        TopicStatus status = nodes.get(0).postrider().admin().status().get(0);
        screen.progress(
                Duration.ofNanos(System.nanoTime() - begin),
                shop.placed(),
                nodes.stream().mapToLong(Node::delivered).sum(),
                status);
        return status;
    }

    /** Waits until the outbox is empty except for dead letters. No new orders are placed. */
    private void drain(List<Node> nodes) {
        long end = System.nanoTime() + DRAIN_LIMIT.toNanos();
        long nextLine = System.nanoTime() + screen.interval().toNanos();
        boolean empty = false;
        while (!empty && System.nanoTime() - end < 0) {
            empty = nodes.get(0).postrider().admin().status().get(0).backlog() == 0;
            if (System.nanoTime() - nextLine >= 0) {
                progress(nodes);
                nextLine += screen.interval().toNanos();
            }
            pause();
        }
        progress(nodes);
        screen.endProgress();
    }

    private static void pause() {
        try {
            Thread.sleep(DRAIN_LOOK.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean conclude(List<Node> nodes, Receiver receiver) throws SQLException {
        nodes.forEach(node -> node.postrider().stop());
        Proof proof = Proof.of(committed(nodes.get(0)), shop.rolledBack(), receiver.received());
        screen.say("");
        new Summary(proof, shop, receiver, nodes).lines().forEach(screen::say);
        return proof.holds() && receiver.forged() == 0;
    }

    private static Set<UUID> committed(Node node) throws SQLException {
        try (Connection connection = node.pool().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT id FROM shop_order")) {
            Set<UUID> ids = new HashSet<>();
            while (row.next()) {
                ids.add(row.getObject(1, UUID.class));
            }
            return ids;
        }
    }
}
