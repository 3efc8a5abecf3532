package dev.postrider.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.message.Message;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.Delivery;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The recorders, the fake unit of work, the clock and the tables. */
final class TestkitTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private static Message.Builder message() {
        return Message.to("orders").type("order.placed").json("{}");
    }

    @Test
    void transportIsAwaitedAndCleared() throws Exception {
        RecordingTransport transport = new RecordingTransport();
        Delivery first = new Delivery(message().build(), 1);
        Delivery second = new Delivery(message().build(), 1);
        CompletableFuture<List<Delivery>> both = CompletableFuture.supplyAsync(() -> transport.await(2, LIMIT));
        transport.deliver(first).toCompletableFuture().get();
        transport.deliver(second).toCompletableFuture().get();

        assertThat(both.get()).containsExactly(first, second);
        transport.clear();
        assertThat(transport.deliveries()).isEmpty();
        assertThat(transport.await(0, Duration.ZERO)).isEmpty();
    }

    @Test
    void whatDoesNotComeIsAnAssertionErrorThatTellsWhatIsThere() throws Exception {
        RecordingHandler handler = new RecordingHandler();
        Message message = message().build();
        handler.handle(message, new FakeUnitOfWork());

        assertThatThrownBy(() -> handler.await(2, Duration.ofMillis(1)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("Expected 2")
                .hasMessageContaining("there are 1")
                .hasMessageContaining(message.id().toString());
    }

    @Test
    void fakeUnitOfWorkKeepsTheFirstOfEachKey() {
        FakeUnitOfWork work = new FakeUnitOfWork();
        Message first = message().idempotencyKey("k").build();
        Message other = message().idempotencyKey("k").json("[]").build();
        Message elsewhere = message().idempotencyKey("k").tenant("acme").build();

        work.stage(first);
        Outbox outbox = work.outbox();
        assertThat(outbox.enqueue(other)).isEqualTo(new Enqueued.Duplicate(first.id(), "k", false));
        assertThat(outbox.enqueueAll(List.of(elsewhere))).containsExactly(new Enqueued.Created(elsewhere.id(), "k"));

        work.stage(first);

        assertThat(work.messages()).containsExactly(first, elsewhere);
        assertThat(work.staged())
                .containsExactly(new Enqueued.Created(first.id(), "k"), new Enqueued.Duplicate(first.id(), "k", true));
        work.clear();
        assertThat(work.messages()).isEmpty();
        assertThatThrownBy(work::connection).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void startedPostriderIsNotToldToDeliverWhatIsDue() {
        DataSource dataSource =
                Databases.assumeStarted(Engine.H2).createDatabase("testkit").dataSource();
        RecordingTransport received = new RecordingTransport();
        try (Postrider postrider = Postrider.on(dataSource)
                .topic("orders", topic -> topic.deliver(received))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(message().build()));
            assertThat(postrider.deliverDue()).isEqualTo(1);

            postrider.start();
            assertThatThrownBy(postrider::deliverDue)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("an instance that is not started");

            postrider.stop();
            postrider.inTransaction(work -> work.stage(message().build()));
            assertThat(postrider.deliverDue()).isEqualTo(1);
        }
    }

    @Test
    void fakeUnitOfWorkCancelsByIdAndByKeyAndKeepsTheKeyUsed() {
        FakeUnitOfWork work = new FakeUnitOfWork();
        Message keyed = message().idempotencyKey("k").build();
        Message other = message().build();
        work.stage(List.of(keyed, other));
        Outbox outbox = work.outbox();

        assertThat(outbox.cancel(keyed.topic(), null, "k")).isEqualTo(Cancellation.CANCELLED);
        assertThat(outbox.cancel(keyed.id())).as("again").isEqualTo(Cancellation.CANCELLED);
        assertThat(outbox.cancel(keyed.topic(), "acme", "k")).isEqualTo(Cancellation.NOT_FOUND);
        assertThat(outbox.cancel(message().build().id())).isEqualTo(Cancellation.NOT_FOUND);

        assertThat(work.messages()).containsExactly(other);
        assertThat(work.cancelled()).containsExactly(keyed);
        assertThat(outbox.enqueue(message().idempotencyKey("k").build()).isDuplicate())
                .isTrue();
    }

    @Test
    void fakeUnitOfWorkComparesAsTheDatabaseDoes() {
        FakeUnitOfWork work = new FakeUnitOfWork();
        Outbox outbox = work.outbox();
        Message first = message().idempotencyKey("k").text("a").build();
        Message otherType = message()
                .idempotencyKey("k")
                .bytes(first.payload().bytes(), "text/x")
                .build();
        outbox.enqueue(first);
        assertThat(outbox.enqueue(otherType)).isEqualTo(new Enqueued.Duplicate(first.id(), "k", true));

        Message unkeyed = message().build();
        Message sameName = message().idempotencyKey(unkeyed.id().toString()).build();
        assertThat(outbox.enqueueAll(List.of(unkeyed, sameName))).noneMatch(Enqueued::isDuplicate);
        assertThat(outbox.enqueue(unkeyed))
                .isEqualTo(new Enqueued.Duplicate(unkeyed.id(), unkeyed.effectiveKey(), true));

        Message otherKey = message().id(first.id()).idempotencyKey("k2").build();
        assertThatThrownBy(() -> outbox.enqueueAll(List.of(message().build(), otherKey)))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining(first.id().toString());
        assertThat(work.messages()).containsExactly(first, unkeyed, sameName);
        assertThat(outbox.enqueue(message().idempotencyKey("k2").build()).isDuplicate())
                .isFalse();
    }

    @Test
    @SuppressWarnings("NullAway")
    void fakeUnitOfWorkRefusesWhatIsMissing() {
        FakeUnitOfWork work = new FakeUnitOfWork();
        assertThatThrownBy(() -> work.stage((Message) null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> work.stage((List<Message>) null)).isInstanceOf(InvalidMessageException.class);
        assertThatThrownBy(() -> work.outbox().enqueue(null)).isInstanceOf(InvalidMessageException.class);
    }

    @Test
    void timeCannotBeMovedFurtherThanADatabaseCounts() {
        DatabaseClock clock = new DatabaseClock(new Database("x", "jdbc:h2:mem:never-opened", "sa", "").dataSource());
        for (Duration absurd : List.of(Duration.ofDays(36_501), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertThatThrownBy(() -> clock.advance(absurd))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("36500 days");
            assertThatThrownBy(() -> DatabaseClock.idOfAge(absurd)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void idOfAgeIsAVersionSevenIdOfThatTime() {
        Instant before = Instant.now().minus(Duration.ofDays(25)).minusMillis(1);
        long high = DatabaseClock.idOfAge(Duration.ofDays(25)).value().getMostSignificantBits();
        Instant after = Instant.now().minus(Duration.ofDays(25)).plusMillis(1);

        assertThat(Instant.ofEpochMilli(high >>> 16)).isBetween(before, after);
        assertThat(DatabaseClock.idOfAge(Duration.ofDays(25)).value().version()).isEqualTo(7);
        assertThat(DatabaseClock.idOfAge(Duration.ofDays(1))).isNotEqualTo(DatabaseClock.idOfAge(Duration.ofDays(1)));
    }

    @ParameterizedTest
    @EnumSource(Engine.class)
    void clockAndTablesTakeSchemaAndPrefix(Engine engine) throws Exception {
        DataSource dataSource =
                Databases.assumeStarted(engine).createDatabase("testkit").dataSource();
        String schema = schema(dataSource, engine);
        RecordingTransport received = new RecordingTransport();
        try (Postrider postrider = Postrider.on(dataSource)
                .tables(tables -> tables.schema(schema).tablePrefix("app_"))
                .topic("orders", topic -> topic.deliver(received))
                .build()) {
            postrider.migrate();
            postrider.inTransaction(work -> work.stage(
                    message().deliverAt(Instant.now().plusSeconds(3000)).build()));
            postrider.deliverDue();
            assertThat(received.deliveries()).isEmpty();

            new DatabaseClock(dataSource, schema, "app_").advance(Duration.ofHours(1));
            postrider.deliverDue();
            assertThat(received.deliveries()).hasSize(1);

            postrider.inTransaction(work -> work.stage(message().build()));
            new PostriderTables(dataSource, schema, "app_").empty();
            postrider.deliverDue();
            assertThat(received.deliveries()).hasSize(1);
            postrider.inTransaction(work -> work.stage(message().build()));
            postrider.deliverDue();
            assertThat(received.deliveries()).hasSize(2);
        }
    }

    /** On MySQL and MariaDB a schema is a database, so that of the connection is named. */
    private static String schema(DataSource dataSource, Engine engine) throws Exception {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            if (connection.getCatalog() != null && engine.name().matches("M.*")) {
                return connection.getCatalog();
            }
            if (engine == Engine.H2) {
                statement.execute("CREATE SCHEMA app");
                return "app";
            }
            statement.execute("CREATE SCHEMA \"Order\""); // a reserved word, in letters of both cases
            return "Order";
        }
    }
}
