package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.contracts.Sql;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.DeadReason;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.CommitHooks;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.RecordingTransport;
import dev.postrider.testkit.StatementHooks;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a statement on PostgreSQL makes of something that happens just before or in the middle of it. */
final class PostgresRaceTest {

    private static final TopicName TOPIC = TopicName.of("t");
    private static final Message MESSAGE = Message.to("t").type("x").text("y").build();
    private static final ClaimRequest REQUEST = ClaimRequest.of("t", "w").lease(Duration.ofSeconds(30));
    private static final Duration DAY = Duration.ofDays(1);
    private static final String NOW = "SELECT clock_timestamp()";

    private final DataSource dataSource =
            Databases.assumeStarted(Engine.POSTGRESQL_18).createDatabase("race").dataSource();

    @Test
    void claimDoesNotWaitForWhatAnotherOneIsAt() throws Exception {
        try (Postrider postrider = migrated(dataSource, new RecordingTransport());
                Connection other = dataSource.getConnection();
                Statement statement = other.createStatement()) {
            postrider.inTransaction(work -> {
                work.stage(MESSAGE);
                work.stage(Message.to("t").type("x").text("z").build());
            });
            other.setAutoCommit(false);
            statement.execute("SELECT FROM postrider_message ORDER BY seq LIMIT 1 FOR UPDATE");

            CompletableFuture<List<Claim>> claims =
                    CompletableFuture.supplyAsync(() -> postrider.store().claim(REQUEST));
            awaitEndOrLockWait(claims);
            boolean done = claims.isDone();
            other.rollback();

            assertThat(done).isTrue();
            assertThat(claims.get(60, TimeUnit.SECONDS))
                    .extracting(claim -> claim.message().payload().asText())
                    .containsExactly("z");
        }
    }

    /** However late a node's clock is, or its request: here the request comes late. */
    @Test
    void leaseIsCountedFromWhenTheDatabaseTakesTheClaim() throws SQLException {
        StatementHooks hooks = new StatementHooks(dataSource);
        try (Postrider postrider = migrated(hooks, new RecordingTransport())) {
            assertThat(postrider.store().claim(REQUEST))
                    .as("the next one begins with what is due")
                    .isEmpty();
            postrider.inTransaction(work -> work.stage(MESSAGE));
            List<String> sent = new ArrayList<>();
            hooks.at(1, true, () -> sent.add(query(NOW)));

            assertThat(postrider.store().claim(REQUEST)).hasSize(1);

            assertThat(hooks.disarm()).isTrue();
            assertThat(leasedForHalfAMinuteFrom(sent.get(0))).isTrue();
        }
    }

    /** The message whose key is free again must not come after the later one of its ordering key, which is written by then. */
    @Test
    void idempotencyKeyThatIsPurgedWhileItsMessageIsWrittenDoesNotPutItBehindALaterMessage() throws SQLException {
        List<Message> batch = List.of(ordered("a", "used", "first"), ordered("a", null, "second"));

        assertThat(writeWhileTheMarkIsPurged(batch)).isInstanceOf(TransactionConflictException.class);
        assertThat(written()).isEmpty();

        assertThat(writeWhileTheMarkIsPurged(List.of(
                        ordered("b", null, "first"), ordered("a", "used", "second"), ordered("c", null, "third"))))
                .as("of other keys")
                .isNull();
        assertThat(written()).containsExactlyInAnyOrder("first", "second", "third");
    }

    /** The message that had its id is gone and cannot be compared any more, so it is written: delivered twice at worst, never lost. */
    @Test
    void messageWhoseIdIsFreedWhileItIsWrittenGoesInWithItsKey() throws SQLException {
        StatementHooks hooks = new StatementHooks(dataSource);
        try (Postrider postrider = migrated(hooks, new RecordingTransport())) {
            for (String key : List.of("", "k")) {
                Message first = Message.to("t").type("first").text("x").build();
                postrider.inTransaction(work -> work.stage(first));
                Message second = Message.to("t")
                        .type("second")
                        .text("y")
                        .id(first.id())
                        .idempotencyKey(key.isEmpty() ? null : key)
                        .build();
                try (Connection connection = hooks.getConnection()) {
                    connection.setAutoCommit(false);
                    hooks.at(1, false, () -> Sql.execute(dataSource, "DELETE FROM postrider_message"));
                    assertThat(postrider.outbox(connection).enqueue(second).isDuplicate())
                            .isFalse();
                    assertThat(hooks.disarm()).isTrue();
                    connection.commit();
                }
                assertThat(written()).containsExactly("second");
                assertThat(query("SELECT count(*) FROM postrider_dedup")).isEqualTo(key.isEmpty() ? "0" : "1");
                Sql.execute(dataSource, "DELETE FROM postrider_message");
            }
        }
    }

    private static Message ordered(String key, @Nullable String idempotencyKey, String type) {
        return Message.to("o")
                .type(type)
                .key(key)
                .text("y")
                .idempotencyKey(idempotencyKey)
                .build();
    }

    private List<String> written() throws SQLException {
        return List.of(query("SELECT coalesce(string_agg(type, ' ' ORDER BY seq), '') FROM postrider_message")
                        .split(" "))
                .stream()
                .filter(type -> !type.isEmpty())
                .toList();
    }

    /** What the write threw; null if nothing. */
    private @Nullable RuntimeException writeWhileTheMarkIsPurged(List<Message> batch) throws SQLException {
        StatementHooks hooks = new StatementHooks(dataSource);
        try (Postrider postrider = Postrider.on(hooks)
                .topic("o", topic -> topic.ordered().lanes(4))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(ordered("a", "used", "earlier")));
            Sql.execute(dataSource, "DELETE FROM postrider_message");
            hooks.at(1, false, () -> Sql.execute(dataSource, "DELETE FROM postrider_dedup"));
            try {
                postrider.inTransaction(work -> batch.forEach(work::stage));
                return null;
            } catch (RuntimeException e) {
                return e;
            } finally {
                assertThat(hooks.disarm()).isTrue();
            }
        }
    }

    @Test
    void leaseOfALocalHandOverBeginsWithTheInsertAndNotWithTheTransaction() throws SQLException {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        List<String> before = new ArrayList<>();
        try (Postrider postrider = migrated(dataSource, new HeldBack(answer))) {
            postrider.start();
            postrider.inTransaction(work -> {
                try (Statement statement = work.connection().createStatement()) {
                    statement.execute("SELECT 1"); // the transaction has begun
                }
                before.add(query(NOW));
                work.stage(MESSAGE);
            });

            String state = query("SELECT state FROM postrider_message");
            boolean leased = leasedForHalfAMinuteFrom(before.get(0));
            answer.complete(DeliveryResult.delivered());

            assertThat(state).isEqualTo("PROCESSING");
            assertThat(leased).isTrue();
        }
    }

    /** Answers when the test does, and is waited for until then. */
    private record HeldBack(CompletableFuture<DeliveryResult> answer) implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            return answer;
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(25);
        }
    }

    private boolean leasedForHalfAMinuteFrom(String time) throws SQLException {
        return query("SELECT locked_until >= '" + time
                        + "'::timestamptz + interval '30 seconds' FROM postrider_message")
                .equals("t");
    }

    @Test
    void deadLetterThatIsReplayedWhileThePurgeIsAtItStays() throws Exception {
        CommitHooks hooks = new CommitHooks(dataSource);
        try (Postrider postrider = migrated(hooks, new RecordingTransport())) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            Claim claim = postrider.store().claim(REQUEST).get(0);
            postrider.store().bury(claim, DeadReason.REJECTED, "no");
            new DatabaseClock(dataSource).advance(DAY.plusMinutes(1));
            CompletableFuture<Integer> purge = new CompletableFuture<>();
            hooks.beforeCommit(() -> {
                purge.completeAsync(() -> retention().purgeDead(DAY, 10));
                awaitEndOrLockWait(purge);
            });

            postrider.admin().replay(MESSAGE.id(), "ada");

            assertThat(purge.get(60, TimeUnit.SECONDS)).isZero();
            assertThat(query("SELECT state FROM postrider_message")).isEqualTo("PENDING");
        }
    }

    @Test
    void messageWhoseLeaseIsExtendedWhileTheSweepIsAtItIsNotBuried() throws Exception {
        try (Postrider postrider = migrated(dataSource, new RecordingTransport());
                Connection holder = dataSource.getConnection();
                Statement statement = holder.createStatement()) {
            postrider.inTransaction(work -> work.stage(MESSAGE));
            assertThat(postrider.store().claim(REQUEST)).hasSize(1);
            new DatabaseClock(dataSource).advance(DAY);
            holder.setAutoCommit(false);
            statement.execute("UPDATE postrider_message SET locked_until = clock_timestamp() + interval '30 seconds'");

            CompletableFuture<Integer> sweep =
                    CompletableFuture.supplyAsync(() -> postrider.store().sweep(TOPIC, 1, 10));
            awaitEndOrLockWait(sweep);
            holder.commit();

            assertThat(sweep.get(60, TimeUnit.SECONDS)).isZero();
            assertThat(query("SELECT state FROM postrider_message")).isEqualTo("PROCESSING");
        }
    }

    private RetentionStore retention() {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {})
                .retention();
    }

    private void awaitEndOrLockWait(CompletableFuture<?> statement) throws SQLException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!statement.isDone() && !someSessionWaits()) {
            assertThat(System.nanoTime() - deadline)
                    .as("neither ends nor waits")
                    .isNegative();
        }
    }

    private boolean someSessionWaits() throws SQLException {
        return query("SELECT count(*) > 0 FROM pg_stat_activity"
                        + " WHERE datname = current_database() AND wait_event_type = 'Lock'")
                .equals("t");
    }

    private static Postrider migrated(DataSource dataSource, Transport transport) {
        Postrider postrider = Postrider.on(dataSource)
                .topic("t", topic -> topic.deliver(transport))
                .dispatch(dispatch -> dispatch.lease(Duration.ofSeconds(30)))
                .build();
        postrider.migrate();
        return postrider;
    }

    private String query(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            assertThat(row.next()).isTrue();
            return row.getString(1);
        }
    }
}
