package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Repair;
import dev.postrider.contracts.Sql;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.idempotency.Command;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.DeliveryResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A user with exactly the grants that {@code docs/databases.md} prints can do everything; one that lacks a grant is refused by its name. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18", "MYSQL_8_0", "MARIADB_11_4"})
final class GrantsTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final boolean postgres;
    private final Database database;
    private final String user;
    private final DataSource least;

    GrantsTest(Engine engine) throws SQLException, IOException {
        postgres = engine.name().startsWith("POSTGRESQL");
        database = Databases.assumeStarted(engine).createDatabase("grants");
        user = "u" + UUID.randomUUID().toString().substring(0, 8);
        JdbcDatabase.open(database.dataSource(), TableOptions.defaults(), LIMIT, event -> {})
                .migrate();
        execute(
                postgres
                        ? "CREATE ROLE " + user + " LOGIN PASSWORD 'secret'"
                        : "CREATE USER " + user + "@'%' IDENTIFIED BY 'secret'");
        for (String grant : printedGrants()) {
            execute(grant);
        }
        least = new Database(database.name(), database.jdbcUrl(), user, "secret").dataSource();
    }

    private List<String> printedGrants() throws IOException {
        String page = Files.readString(Path.of("../../docs/databases.md"));
        String marker = "<!-- grants: " + (postgres ? "postgresql" : "innodb") + " -->\n```sql\n";
        int start = page.indexOf(marker) + marker.length();
        assertThat(start).as("the grants on the page").isGreaterThan(marker.length());
        String block = page.substring(start, page.indexOf("```", start));
        return Arrays.stream(block.split(";"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .map(statement ->
                        statement.replace("shop.", database.name() + ".").replaceAll("TO app$", "TO " + user))
                .toList();
    }

    @Test
    void userWithThePrintedGrantsCanDoEverything() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        RecordingTransport sent = new RecordingTransport();
        RecordingTransport failing = new RecordingTransport().answering(delivery -> DeliveryResult.rejected("no"));
        try (Postrider postrider = Postrider.on(least)
                .topic("plain", topic -> topic.deliver(sent))
                .topic("ordered", topic -> topic.ordered().lanes(2).deliver(sent))
                .topic("dead", topic -> topic.deliver(failing))
                .topic("held", topic -> topic.ordered().lanes(1).deliver(failing))
                .topic("handled", topic -> topic.process((message, work) -> handled.incrementAndGet()))
                .inbox("billing", inbox -> inbox.handler("book", "x", (message, work) -> handled.incrementAndGet()))
                .dispatch(options -> options.pollInterval(Duration.ofMillis(100)))
                .build()) {
            postrider.start();
            MessageId dead = MessageId.next();
            postrider.inTransaction(work -> {
                work.stage(Message.to("plain")
                        .type("x")
                        .text("1")
                        .idempotencyKey("k")
                        .build());
                work.stage(Message.to("plain")
                        .type("x")
                        .text("1")
                        .idempotencyKey("k")
                        .build());
                work.stage(Message.to("ordered").type("x").text("2").key("a").build());
                work.stage(Message.to("dead").type("x").text("3").id(dead).build());
                work.stage(Message.to("held").type("x").text("4").key("a").build());
                work.stage(Message.to("handled").type("x").text("5").build());
            });
            eventually("delivered", () -> sent.messages().size() == 2 && handled.get() == 1);
            postrider.inbox("other").process(received("a"), work -> handled.incrementAndGet());
            postrider.inbox("billing").receive(List.of(received("b")));
            Command<String> command =
                    Command.named("pay").caller("ada").key("k").fingerprint("f").returningText();
            postrider.commands().run(command, work -> "paid");
            eventually("handled", () -> handled.get() == 3);
            TopicName deadTopic = TopicName.of("dead");
            eventually(
                    "dead",
                    () -> !postrider.admin().deadLetters(deadTopic, 0, 10).isEmpty());
            postrider.admin().replay(dead, "ann");
            eventually(
                    "dead again",
                    () -> !postrider.admin().deadLetters(deadTopic, 0, 10).isEmpty());
            postrider.admin().discard(dead, "ann");
            TopicName held = TopicName.of("held");
            eventually("held", () -> !postrider.admin().blockedKeys(held, 0, 10).isEmpty());
            // The row can be seen a moment before the lock of the outcome that parked it ends.
            eventually("retried", () -> postrider.admin().retry(held, null, "a", "ann") == Repair.DONE);
            eventually("held again", () -> failing.messages().size() >= 4);
            postrider.admin().pause(held, "ann");
            postrider.admin().resume(held, "ann");
            assertThat(postrider.admin().nodes()).hasSize(1);
            assertThat(postrider.admin().inboxes()).isNotEmpty();
        }
        try (Connection connection = least.getConnection();
                Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT * FROM postrider_message_text").close();
        }
        RetentionStore retention = JdbcDatabase.open(least, TableOptions.defaults(), LIMIT, event -> {})
                .retention();
        retention.purgeArchive(Duration.ZERO, 10);
        retention.purgeDead(Duration.ZERO, 10);
        retention.purgeKeys(Duration.ZERO, 10);
        retention.purgeInboxMarks(Duration.ZERO, 10);
        retention.maintainInboxPartitions(Optional.of(Duration.ofDays(1)));
        retention.rebuildIndexes();
        retention.sweepCommands(10);
    }

    private static Message received(String id) {
        return Message.received("elsewhere", id).type("x").text("y").build();
    }

    @Test
    void missingGrantIsNamedAtStart() throws SQLException {
        String missing = postgres
                ? "SELECT ON SEQUENCE public.postrider_message_seq"
                : "UPDATE ON " + database.name() + ".postrider_lane";
        execute("REVOKE " + missing + " FROM " + user);
        refuses(postgres ? "SELECT on postrider_message_seq" : "UPDATE on postrider_lane");
    }

    @Test
    void everyPrivilegeOnEveryTableIsChecked() throws SQLException {
        String schema = postgres ? "public" : database.name();
        for (String table :
                List.of("message", "archive", "dedup", "topic", "lane", "node", "audit", "inbox_mark", "command")) {
            for (String privilege : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
                String on = privilege + " ON " + schema + ".postrider_" + table;
                execute("REVOKE " + on + " FROM " + user);
                refuses(privilege + " on postrider_" + table);
                execute("GRANT " + on + " TO " + user);
            }
        }
        execute("REVOKE SELECT ON " + schema + ".postrider_schema FROM " + user);
        refuses("SELECT on postrider_schema");
    }

    @Test
    void userOfTheDispatcherIsCheckedToo() throws SQLException {
        execute("REVOKE DELETE ON " + (postgres ? "public" : database.name()) + ".postrider_message FROM " + user);
        try (Postrider postrider = Postrider.on(database.dataSource())
                .dispatchOn(least)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build()) {
            assertThatThrownBy(postrider::start)
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("DELETE on postrider_message");
        }
    }

    private void refuses(String grant) {
        try (Postrider postrider = Postrider.on(least)
                .topic("t", topic -> topic.deliver(new RecordingTransport()))
                .build()) {
            assertThatThrownBy(postrider::start)
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining(grant);
        }
    }

    private void execute(String sql) throws SQLException {
        Sql.execute(database.dataSource(), sql);
    }

    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        CountDownLatch pause = new CountDownLatch(1);
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).as(what).isNegative();
            assertThat(pause.await(20, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
