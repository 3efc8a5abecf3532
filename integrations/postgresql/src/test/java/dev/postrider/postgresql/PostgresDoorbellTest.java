package dev.postrider.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.dispatch.Doorbell;
import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Nodes poll once a minute here: what is delivered within half of one was rung for. */
final class PostgresDoorbellTest {

    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Duration BEFORE_A_POLL = Duration.ofSeconds(30);
    private static final PostgresDoorbell.Timing QUICK =
            new PostgresDoorbell.Timing(Duration.ofSeconds(4), Duration.ofMillis(500), Duration.ofMillis(300));

    private final Database database =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("doorbell");
    private final DataSource dataSource = database.dataSource();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final List<String> delivered = new CopyOnWriteArrayList<>();

    @BeforeEach
    void migrate() {
        Postrider.on(dataSource).topic("orders").topic("other").build().migrate();
    }

    @AfterEach
    void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    @Test
    void nodeDeliversAtOnceWhatAProcessThatOnlyWritesCommitted() throws Exception {
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        listeningNode();

        assertThat(within(BEFORE_A_POLL, () -> place(writer, "first"))).isTrue();
        assertThat(within(BEFORE_A_POLL, () -> place(writer, "second"))).isTrue();
    }

    @Test
    void processThatEndsRightAfterItsCommitIsHeard() throws Exception {
        listeningNode();
        // Connecting may take longer than ending waits for.
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        assertThat(within(BEFORE_A_POLL, () -> place(writer, "first"))).isTrue();

        assertThat(within(BEFORE_A_POLL, () -> {
                    place(writer, "last");
                    writer.close();
                    return true;
                }))
                .isTrue();
    }

    @Test
    void handWrittenCommitIsHeardAfterAWakeUp() throws Exception {
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        listeningNode();

        assertThat(within(BEFORE_A_POLL, () -> {
                    try (Connection connection = dataSource.getConnection()) {
                        connection.setAutoCommit(false);
                        writer.outbox(connection).enqueue(order("by hand"));
                        connection.commit();
                    }
                    writer.wake();
                    return true;
                }))
                .isTrue();
    }

    @Test
    void unreadableNotificationIsARingForAnything() throws Exception {
        Postrider writer = opened(Postrider.on(dataSource).topic("orders").build());
        listeningNode();
        place(writer, "unheard");

        assertThat(within(BEFORE_A_POLL, () -> {
                    execute("NOTIFY postrider_doorbell, 'rubbish'");
                    return true;
                }))
                .isTrue();
    }

    @Test
    void ringsAreFewHoweverManyCommitsThereAreAndNoneIsSentByABusinessTransaction() throws Exception {
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        try (Connection own = dataSource.getConnection()) {
            execute(own, "LISTEN postrider_doorbell");
            List<Integer> business = new CopyOnWriteArrayList<>();
            long begun = System.nanoTime();
            for (int i = 0; i < 300; i++) {
                String order = "o-" + i;
                writer.inTransaction(work -> {
                    business.add(Integer.parseInt(query(work.connection(), "SELECT pg_backend_pid()")));
                    work.stage(order(order));
                });
            }
            long millis = Duration.ofNanos(System.nanoTime() - begun).toMillis();
            List<PGNotification> rings = new ArrayList<>();
            eventually("the doorbell rings", () -> {
                rings.addAll(notifications(own));
                return !rings.isEmpty();
            });
            writer.close(); // the last ring is out now
            rings.addAll(notifications(own));

            assertThat(rings).hasSizeLessThanOrEqualTo((int) (millis / 50) + 2);
            assertThat(rings).allSatisfy(ring -> {
                assertThat(ring.getParameter()).matches("ring:[0-9a-f]{8}:orders");
                assertThat(business).doesNotContain(ring.getPID());
            });
            System.out.println("300 commits in " + millis + " ms were rung for " + rings.size() + " times");
        }
    }

    @Test
    void whatIsHandedOverOrRolledBackOrDueLaterIsNotRungFor() throws Exception {
        Postrider node = listeningNode();
        try (Connection own = dataSource.getConnection()) {
            execute(own, "LISTEN postrider_doorbell");
            assertThat(within(SOON, () -> place(node, "handed over"))).isTrue();
            try {
                node.inTransaction(work -> {
                    work.outbox().enqueue(order("rolled back"));
                    throw new IllegalStateException("changed my mind");
                });
            } catch (IllegalStateException expected) {
                // as it should
            }
            node.inTransaction(work -> work.stage(Message.to("orders")
                    .type("order.placed")
                    .text("later")
                    .deliverAt(Instant.now().plusSeconds(3600))
                    .build()));
            node.close();

            assertThat(notifications(own))
                    .extracting(PGNotification::getParameter)
                    .noneMatch(note -> note.startsWith("ring"));
        }
    }

    @Test
    void listenerThatWasCutComesBack() throws Exception {
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        listeningNode();
        String first = listener();

        long cut = System.nanoTime();
        execute("SELECT pg_terminate_backend(" + first + ")");

        eventually(
                "it listens again",
                () -> !listener().equals("none") && !listener().equals(first));
        System.out.println("LISTEN was lost: it listens again after " + (System.nanoTime() - cut) / 1_000_000 + " ms");
        assertThat(within(BEFORE_A_POLL, () -> place(writer, "after"))).isTrue();
    }

    @Test
    void ringerThatWasCutRingsAgain() throws Exception {
        Postrider writer = writer(PostgresDoorbell.on(dataSource));
        listeningNode();
        assertThat(within(BEFORE_A_POLL, () -> place(writer, "before"))).isTrue();

        execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_notify%' AND datname = '"
                        + database.name() + "'");

        assertThat(within(BEFORE_A_POLL, () -> place(writer, "after"))).isTrue();
    }

    @Test
    void lineBehindAPoolerThatLosesListenIsGivenUpForAWhileAndTriedAgain() throws Exception {
        TransactionPooler pooler = new TransactionPooler(dataSource);
        Doorbell.Line line = opened(new PostgresDoorbell(pooler, QUICK).open("postrider_doorbell"));

        Heard heard = Heard.nothing();
        while (heard.pause().isZero()) {
            heard = line.listen(Duration.ofMillis(100));
            assertThat(heard.ring()).isEmpty();
        }
        assertThat(heard.pause()).isEqualTo(QUICK.retry());

        pooler.becomeSessionPooler();
        eventually(
                "it works when the pooler does",
                () -> line.listen(Duration.ofMillis(100)).ring().isPresent());
        execute("NOTIFY postrider_doorbell, 'ring:0123abcd:orders'");
        Optional<Ring> ring = Optional.empty();
        while (ring.isEmpty()) {
            ring = line.listen(Duration.ofMillis(100)).ring();
        }
        assertThat(ring).hasValue(new Ring(Set.of(TopicName.of("orders"))));
    }

    @Test
    void messagesAreStillDeliveredByPollingBehindAPoolerThatLosesListen() throws Exception {
        TransactionPooler pooler = new TransactionPooler(dataSource);
        Postrider writer = writer(new PostgresDoorbell(pooler, QUICK));
        node(builder -> builder.doorbell(new PostgresDoorbell(pooler, QUICK))
                        .dispatch(options -> options.pollInterval(Duration.ofMillis(500))))
                .start();

        assertThat(within(SOON, () -> place(writer, "polled"))).isTrue();
    }

    @Test
    void databaseThatCannotBeReachedIsTriedAgainLater() {
        Doorbell.Line line = opened(new PostgresDoorbell(new Unreachable(), QUICK).open("postrider_doorbell"));

        assertThat(line.listen(Duration.ofMillis(100)).pause()).isEqualTo(QUICK.retry());
        assertThat(line.listen(Duration.ofMillis(100)).pause()).isEqualTo(QUICK.retry());
    }

    private Postrider writer(Doorbell doorbell) {
        return opened(
                Postrider.on(dataSource).topic("orders").doorbell(doorbell).build());
    }

    private Postrider node(UnaryOperator<PostriderBuilder> configuration) {
        return opened(configuration
                .apply(Postrider.on(dataSource)
                        .topic(
                                "orders",
                                topic -> topic.deliver(delivery -> {
                                    delivered.add(new String(
                                            delivery.message().payload().bytes(), UTF_8));
                                }))
                        .dispatch(
                                options -> options.lease(Duration.ofMinutes(3)).pollInterval(Duration.ofMinutes(1))))
                .build());
    }

    /** A node whose first looks are over, so that it is woken by the next ring or by the next poll. */
    private Postrider listeningNode() throws Exception {
        Postrider node = node(builder -> builder.doorbell(PostgresDoorbell.on(dataSource)));
        node.start();
        eventually("it listens", () -> !listener().equals("none"));
        Postrider other = opened(Postrider.on(dataSource).topic("orders").build());
        place(other, "found by the first look after the test");
        if (!happens(Duration.ofSeconds(3), () -> !delivered.isEmpty())) {
            execute("NOTIFY postrider_doorbell, 'look'"); // its own test had come back before
        }
        eventually("its own test came back, after which it looks once", () -> !delivered.isEmpty());
        return node;
    }

    private static Message order(String text) {
        return Message.to("orders").type("order.placed").text(text).build();
    }

    private static boolean place(Postrider writer, String text) {
        writer.inTransaction(work -> work.stage(order(text)));
        return true;
    }

    /** Whether something more is delivered within the time from the action on. */
    private boolean within(Duration time, Callable<Boolean> action) throws Exception {
        int before = delivered.size();
        long begun = System.nanoTime();
        assertThat(action.call()).isTrue();
        eventually("it is delivered", () -> delivered.size() > before);
        return System.nanoTime() - begun < time.toNanos();
    }

    /** The process of the server that serves the listening connection. */
    private String listener() throws SQLException {
        return query(
                "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid() AND datname = '"
                        + database.name() + "' ORDER BY backend_start DESC LIMIT 1");
    }

    private static List<PGNotification> notifications(Connection connection) throws SQLException {
        PGNotification[] notifications = connection.unwrap(PGConnection.class).getNotifications(200);
        return notifications == null ? List.of() : List.of(notifications);
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            execute(connection, sql);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String query(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return query(connection, sql);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? String.valueOf(row.getString(1)) : "none";
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        opened.push(resource);
        return resource;
    }

    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        assertThat(happens(SOON, condition)).as(what).isTrue();
    }

    /** Looks again and again, with a short breath between two looks, until it is so or the time is over. */
    private static boolean happens(Duration within, Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + within.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0 || breath.await(5, TimeUnit.MILLISECONDS)) {
                return false;
            }
        }
        return true;
    }
}
