package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.dispatch.FailurePolicy;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.transport.PermanentFailureException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The way of an operator at three in the morning, by the command line alone: docs/troubleshooting.md tells it. */
final class FromRedToDeliveredTest {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Databases.Empty database = Databases.create();
    private final AtomicBoolean repaired = new AtomicBoolean();

    private Cli run(String... arguments) {
        String[] all = new String[arguments.length + 4];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        System.arraycopy(new String[] {"--db", database.url(), "--user", "postgres"}, 0, all, arguments.length, 4);
        return Cli.run(all);
    }

    private void destination() {
        if (!repaired.get()) {
            throw new PermanentFailureException("address of shop 17 is gone");
        }
    }

    private Postrider node(HikariDataSource pool) {
        return Postrider.on(pool)
                .topic("mail", topic -> topic.deliver(delivery -> destination()))
                .topic(
                        "stock",
                        topic -> topic.ordered()
                                .lanes(2)
                                .onFailure(FailurePolicy.PARK)
                                .deliver(delivery -> destination()))
                .dispatch(options -> options.pollInterval(Duration.ofMillis(50)))
                .build();
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(database.dataSource());
        config.setMaximumPoolSize(8);
        return new HikariDataSource(config);
    }

    @Test
    void operatorFindsTheCauseAndReplaysUntilAllIsDelivered() {
        try (HikariDataSource pool = pool();
                Postrider node = node(pool)) {
            node.migrate();
            node.start();
            List<MessageId> ids = List.of(
                    write(node, Message.to("mail").type("mail.requested")),
                    write(node, Message.to("stock").type("stock.changed").key("item-7")),
                    write(node, Message.to("stock").type("stock.changed").key("item-7")));

            // Something is red.
            Await.until(
                    LIMIT,
                    () -> run("failures").out().lines().count() == 3,
                    () -> run("failures").out());
            assertThat(run("status").out())
                    .containsPattern("mail +active( +0){6} +1 ")
                    .containsPattern("stock +active");
            assertThat(run("doctor").exitCode()).isIn(9, 10);

            // What, and why?
            Cli failures = run("failures", "--topic", "mail", "--output", "json");
            assertThat(failures.out()).contains("address of shop 17 is gone");
            String sample = failures.out().replaceAll("(?s).*\"sample\":\"([^\"]+)\".*", "$1");
            assertThat(run("show", sample, "--payload").out())
                    .contains("REJECTED", "address of shop 17 is gone", "waits for an operator", "{\"n\":1}");
            assertThat(run("blocked-keys", "stock").out())
                    .contains("item-7", ids.get(1).toString());

            // The destination is put right, and what failed is replayed.
            repaired.set(true);
            assertThat(run("replay", "--state", "dead,parked", "--dry-run").out())
                    .startsWith("Would replay 2 messages");
            assertThat(run("replay", "--state", "dead,parked", "--reason", "address restored", "--yes")
                            .exitCode())
                    .isZero();

            Await.until(
                    LIMIT,
                    () -> ids.stream()
                            .allMatch(id -> run("show", id.toString()).out().contains("delivered")),
                    () -> run("list").out());
            assertThat(run("failures").out()).contains("No message is dead or parked.");
            assertThat(run("audit").out()).contains("address restored");
        }
    }

    private static MessageId write(Postrider node, Message.Builder message) {
        Message built = message.json("{\"n\":1}").build();
        node.inTransaction(work -> work.stage(built));
        return built.id();
    }
}
