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
import java.util.function.Function;

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
            screen.say(database.describe() + "; receiver on port "
                    + receiver.uri(Shop.TOPIC).getPort());
            Function<String, Webhook> webhook =
                    topic -> Webhook.toInternal(receiver.uri(topic)).signedWith(secret);
            try (Node first = new Node("node-1", database, webhook);
                    Node second = new Node("node-2", database, webhook)) {
                List<Node> nodes = List.of(first, second);
                prepare(nodes);
                screen.say(
                        ordersPerSecond + " orders per second, one in 25 rolled back on purpose; the receiver fails one"
                                + " request in 20. Ctrl-C ends it.");
                walk(database, receiver).forEach(screen::say);
                takeOrders(nodes, interruption);
                drain(nodes);
                return conclude(nodes, receiver);
            }
        } catch (SQLException e) {
            throw new DemoUnavailableException("The embedded PostgreSQL failed: " + e.getMessage(), e);
        }
    }

    /** The way from "something is red" to "delivered", for a second terminal. */
    private static List<String> walk(DemoDatabase database, Receiver receiver) {
        String options = " --db " + database.url() + " --user " + DemoDatabase.USER;
        return List.of(
                "",
                "Broken on purpose: the destination of topic " + Shop.MAIL + ", and one key of topic " + Shop.STOCK
                        + ". See it and put it right from another terminal:",
                "  ./postrider status" + options,
                "  ./postrider failures" + options,
                "  curl -X POST " + receiver.uri("repair"),
                "  ./postrider replay --state parked --yes" + options,
                "");
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

    private static TopicStatus orders(List<Node> nodes) {
        return nodes.get(0).postrider().admin().status().stream()
                .filter(status -> status.topic().toString().equals(Shop.TOPIC))
                .findFirst()
                .orElseThrow();
    }

    private void progress(List<Node> nodes) {
        TopicStatus status = orders(nodes);
        screen.progress(
                Duration.ofNanos(System.nanoTime() - begin),
                shop.placed(),
                nodes.stream().mapToLong(Node::delivered).sum(),
                status);
    }

    /** Waits until every order is delivered. No new orders are placed. */
    private void drain(List<Node> nodes) {
        long end = System.nanoTime() + DRAIN_LIMIT.toNanos();
        long nextLine = System.nanoTime() + screen.interval().toNanos();
        boolean empty = false;
        while (!empty && System.nanoTime() - end < 0) {
            empty = orders(nodes).backlog() == 0;
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
        Troubled troubled =
                Troubled.of(shop.troubled(), nodes.get(0).postrider().admin());
        screen.say("");
        new Summary(proof, troubled, shop, receiver, nodes).lines().forEach(screen::say);
        return proof.holds() && troubled.missing() == 0 && receiver.forged() == 0;
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
