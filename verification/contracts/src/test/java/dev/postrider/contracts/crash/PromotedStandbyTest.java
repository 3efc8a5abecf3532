package dev.postrider.contracts.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.dispatch.Topic;
import dev.postrider.message.Message;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.testkit.database.Standby;
import dev.postrider.transport.Delivery;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/** A primary that dies under load, and a standby that goes on in its place, at an address of its own that the driver finds. */
final class PromotedStandbyTest {

    private static final String ORDERED = "ledger";
    private static final String UNORDERED = "notes";
    private static final List<String> KEYS = List.of("a", "b", "c", "d", "e");
    private static final int LOAD = 300;

    @Test
    void everythingThatWasAnsweredIsDeliveredInOrderIfCommitsWaitedForTheStandby() throws Exception {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            Database database = server.createDatabase("pair");
            configured(database.dataSource(), topic -> {}).migrate();
            try (Standby standby = Standby.of(server);
                    Office office = new Office(database, standby.server())) {
                standby.bindCommits();
                Thread producer = new Thread(office::writeOn);
                producer.start();
                office.awaitReceived(LOAD);

                server.crash();
                standby.promote();
                long promoted = System.nanoTime();

                office.awaitReceived(office.received.size() + LOAD);
                System.out.println("promoted standby: " + LOAD + " more messages after "
                        + (System.nanoTime() - promoted) / 1_000_000 + " ms");
                office.stopWriting = true;
                producer.join();
                office.awaitEmpty();

                assertThat(office.received).containsAll(office.answered);
                assertThat(office.unknown).as("the crash was noticed").isNotEmpty();
                assertInOrder(office.received);
            }
        }
    }

    /** New messages get the numbers of those that are lost with the primary, which this node has read and delivered. */
    @Test
    void whatSurvivesIsDeliveredInOrderIfTheStandbyHasMissedTheLastCommits() throws Exception {
        try (DatabaseServer server = Databases.startOrAbort(Engine.POSTGRESQL_18)) {
            Database database = server.createDatabase("pair");
            configured(database.dataSource(), topic -> {}).migrate();
            try (Standby standby = Standby.of(server);
                    Office office = new Office(database, standby.server())) {
                office.write(0, 20);
                office.awaitEmpty();
                office.write(20, 40);
                standby.loseTouch();
                office.write(40, 80);
                office.awaitReceived(2 * 80 * KEYS.size());
                long lost = office.number("SELECT max(seq) FROM postrider_archive");

                server.crash();
                standby.promote();
                List<String> before = List.copyOf(office.received);
                office.awaitConnected();
                long first = office.number("SELECT last_value FROM postrider_message_seq");
                office.write(100, 140);
                office.awaitEmpty();

                List<String> after = office.received.subList(before.size(), office.received.size());
                assertThat(first).as("numbers are given again").isLessThan(lost);
                assertThat(after).containsAll(Office.expected(100, 140));
                assertInOrder(after);
            }
        }
    }

    private static Postrider configured(DataSource dataSource, Consumer<Topic.Builder> declaration) {
        return Postrider.on(dataSource)
                .topic(ORDERED, topic -> declaration.accept(topic.ordered().lanes(4)))
                .topic(UNORDERED, declaration)
                .dispatch(options -> Pace.QUICK.set(options, "office"))
                .build();
    }

    /** Of each key of the ordered topic the first deliveries have rising numbers. */
    private static void assertInOrder(List<String> received) {
        Map<String, Integer> last = new HashMap<>();
        for (String each : new LinkedHashSet<>(received)) {
            String[] words = each.split(" ");
            int number = Integer.parseInt(words[2]);
            Integer before = last.put(words[1] + words[0], number);
            assertThat(words[0].equals(UNORDERED) || before == null || before < number)
                    .as("%s after %s", each, before)
                    .isTrue();
        }
    }

    /** A node that writes and delivers, at whichever of two servers can be written to. */
    private static final class Office implements AutoCloseable {

        final List<String> received = new CopyOnWriteArrayList<>();
        final Set<String> answered = new LinkedHashSet<>();
        final List<String> unknown = new ArrayList<>();
        volatile boolean stopWriting;

        private final HikariDataSource pool;
        private final Postrider node;

        Office(Database primary, DatabaseServer standby) {
            String other = standby.jdbcUrl().replaceFirst(".*//([^/]*)/.*", ",$1/");
            pool = Orders.pool(new Database(
                    primary.name(),
                    primary.jdbcUrl().replaceFirst("(//[^/]*)/", "$1" + other) + "?targetServerType=primary",
                    primary.user(),
                    primary.password()));
            node = configured(pool, topic -> topic.deliver(this::receive));
            node.start();
        }

        private void receive(Delivery delivery) {
            Message message = delivery.message();
            received.add(message.topic().topic() + " " + message.key() + " "
                    + message.payload().asText());
        }

        void writeOn() {
            for (int number = 0; !stopWriting; number++) {
                List<String> written = expected(number, number + 1);
                try {
                    write(number, number + 1);
                    answered.addAll(written);
                } catch (SQLException | RuntimeException e) {
                    unknown.addAll(written);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                }
            }
        }

        /** One of each number to each key of each topic, in a transaction for each number. */
        void write(int from, int to) throws SQLException {
            for (int number = from; number < to; number++) {
                String text = Integer.toString(number);
                node.inTransaction(work -> {
                    for (String topic : List.of(ORDERED, UNORDERED)) {
                        for (String key : KEYS) {
                            work.stage(Message.to(topic)
                                    .type("x")
                                    .key(key)
                                    .text(text)
                                    .build());
                        }
                    }
                });
            }
        }

        static List<String> expected(int from, int to) {
            List<String> expected = new ArrayList<>();
            for (int number = from; number < to; number++) {
                for (String topic : List.of(ORDERED, UNORDERED)) {
                    for (String key : KEYS) {
                        expected.add(topic + " " + key + " " + number);
                    }
                }
            }
            return expected;
        }

        void awaitReceived(int count) {
            Await.until(() -> "received " + received.size(), () -> received.size() >= count);
        }

        void awaitEmpty() {
            Await.until(() -> "messages are left", () -> isZero("SELECT count(*) FROM postrider_message"));
        }

        void awaitConnected() {
            Await.until(() -> "no server can be written to", () -> isZero("SELECT 0"));
        }

        private boolean isZero(String sql) {
            try {
                return number(sql) == 0;
            } catch (SQLException e) {
                return false; // not connected yet
            }
        }

        long number(String sql) throws SQLException {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getLong(1);
            }
        }

        @Override
        public void close() {
            node.close();
            pool.close();
        }
    }
}
