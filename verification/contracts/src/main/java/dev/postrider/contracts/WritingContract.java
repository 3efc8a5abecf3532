package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.StoreException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.inbox.Inbox;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TraceContext;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import dev.postrider.testkit.WatchedDataSource;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;

/**
 * The contract of writes in the transaction of the caller: all or nothing, once per idempotency key, and an error on a connection that
 * cannot be used.
 */
public abstract class WritingContract extends DatabaseContract {

    /** A data source on another database of the same server, with Postrider's tables in it. */
    protected abstract DataSource foreignDataSource();

    @Test
    void everyPartOfAMessageSurvives() throws SQLException {
        Postrider postrider = postrider();
        Message message = Message.to(topic)
                .type("order.placed")
                .tenant("Ten ant ")
                .key("key ÄÖ 😀")
                .idempotencyKey("idem/1")
                .bytes(new byte[] {0, 1, (byte) 0xFF, (byte) 0xC3}, "application/x-odd")
                .header("x-one", "1")
                .header("X-Two", "zwei \"quoted\" \\ 😀")
                .correlationId("corr")
                .causationId("cause")
                .trace(new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b"))
                .occurredAt(Instant.parse("2026-02-28T23:59:59.987654321Z"))
                .source("/orders")
                .subject("order/1")
                .deliverAt(Instant.parse("2020-01-01T00:00:00.000001Z"))
                .build();

        enqueue(postrider, message);

        assertThat(claim(postrider)).extracting(Claim::message).containsExactly(message);
        assertThat(message.occurredAt()).isEqualTo(Instant.parse("2026-02-28T23:59:59.987654Z"));
    }

    @Test
    void smallestMessageSurvives() throws SQLException {
        Postrider postrider = postrider();
        Message message =
                Message.to(topic).type("t").bytes(new byte[0], Payload.BINARY).build();

        enqueue(postrider, message);

        assertThat(claim(postrider)).extracting(Claim::message).containsExactly(message);
    }

    @Test
    void timesThatDoNotExistOnTheLocalClockSurvive() throws SQLException {
        Postrider postrider = postrider();
        // As local times, these are in the hour that some time zone skips or repeats.
        List<String> times = List.of(
                "2026-10-04T02:15:00Z",
                "2026-03-29T02:30:00Z",
                "2026-03-08T02:30:00Z",
                "2026-10-25T02:30:00Z",
                "1970-01-01T00:00:00Z",
                "2038-01-19T03:14:08Z",
                "9999-12-31T23:59:59.999999Z");
        for (String time : times) {
            enqueue(postrider, message().occurredAt(Instant.parse(time)).build());
        }
        assertThat(claim(postrider))
                .extracting(claim -> claim.message().occurredAt().toString())
                .containsExactlyElementsOf(times);
    }

    @Test
    void messageIsInvisibleUntilCommitAndGoneAfterRollback() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = transaction()) {
            Enqueued enqueued = postrider.outbox(connection).enqueue(message().build());
            assertThat(enqueued).isInstanceOf(Enqueued.Created.class);
            if (isConcurrent()) {
                assertThat(live()).as("seen from outside").isZero();
            }
            connection.rollback();
        }
        assertThat(live()).isZero();
    }

    @Test
    void savepointRollbackTakesTheMessageWithIt() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = transaction()) {
            postrider
                    .outbox(connection)
                    .enqueue(message().idempotencyKey("kept").build());
            Savepoint savepoint = connection.setSavepoint();
            postrider
                    .outbox(connection)
                    .enqueue(message().idempotencyKey("dropped").build());
            connection.rollback(savepoint);
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
        assertThat(enqueue(postrider, message().idempotencyKey("dropped").build())
                        .isDuplicate())
                .as("the key was released")
                .isFalse();
    }

    @Test
    void autocommitConnectionIsRefused() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = dataSource().getConnection()) {
            connection.setAutoCommit(true);
            refuses(
                    Problem.AUTOCOMMIT,
                    () -> postrider.outbox(connection).enqueue(message().build()));
        }
        assertThat(live()).isZero();
    }

    @Test
    void readOnlyConnectionIsRefused() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = dataSource().getConnection()) {
            connection.setReadOnly(true);
            connection.setAutoCommit(false);
            if (!connection.isReadOnly()) {
                postrider.outbox(connection).enqueue(message().build()); // H2 ignores the setting, and can write
                return;
            }
            refuses(
                    Problem.READ_ONLY,
                    () -> postrider.outbox(connection).enqueue(message().build()));
            connection.rollback();
            connection.setReadOnly(false);
        }
        assertThat(live()).isZero();
    }

    @Test
    void closedConnectionIsRefused() throws SQLException {
        Postrider postrider = postrider();
        Connection connection = transaction();
        connection.close();
        refuses(
                Problem.CLOSED,
                () -> postrider.outbox(connection).enqueue(message().build()));
    }

    @Test
    void connectionToAnotherDatabaseIsRefused() throws SQLException {
        Postrider postrider = postrider();
        try (Postrider foreign = Postrider.on(foreignDataSource()).topic(topic).build()) {
            foreign.migrate();
        }
        try (Connection connection = foreignDataSource().getConnection()) {
            connection.setAutoCommit(false);
            refuses(
                    Problem.FOREIGN,
                    () -> postrider.outbox(connection).enqueue(message().build()));
        }
    }

    @Test
    void connectionThatLeadsElsewhereTheNextTimeIsRefusedThen() throws SQLException {
        Postrider postrider = postrider();
        try (Postrider foreign = Postrider.on(foreignDataSource()).topic(topic).build()) {
            foreign.migrate();
        }
        for (Unwrapping unwrapping : Unwrapping.values()) {
            try (Connection own = transaction();
                    Connection other = foreignDataSource().getConnection()) {
                other.setAutoCommit(false);
                AtomicReference<Connection> target = new AtomicReference<>(own);
                Connection switching = switching(target, unwrapping);
                postrider.outbox(switching).enqueue(message().build());
                postrider.outbox(switching).enqueue(message().build());
                target.set(other);
                refuses(
                        Problem.FOREIGN,
                        () -> postrider.outbox(switching).enqueue(message().build()));
                own.rollback();
            }
        }
    }

    private enum Unwrapping {
        ITSELF,
        ITS_TARGET,
        REFUSED
    }

    /** A connection object that delegates to the connection of the current transaction, as some frameworks use it. */
    private static Connection switching(AtomicReference<Connection> target, Unwrapping unwrapping) {
        return (Connection) Proxy.newProxyInstance(
                WritingContract.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (unwrapping != Unwrapping.ITS_TARGET && method.getName().equals("unwrap")) {
                        if (unwrapping == Unwrapping.REFUSED) {
                            throw new SQLException("not a wrapper");
                        }
                        return proxy;
                    }
                    return method.invoke(target.get(), arguments);
                });
    }

    private static void refuses(Problem problem, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(problem));
    }

    @Test
    void undeclaredTopicIsRefusedAndTheTransactionGoesOn() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> postrider
                            .outbox(connection)
                            .enqueue(Message.to("ordesr").type("x").text("y").build()))
                    .isInstanceOf(UnknownTopicException.class)
                    .hasMessageContaining("ordesr");
            postrider.outbox(connection).enqueue(message().build());
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void payloadMayReachTheLimitButNotPassIt() throws SQLException {
        Postrider postrider =
                postrider(builder -> builder.topic(topic).tables(tables -> tables.maxPayloadBytes(3_000_000)));
        enqueue(postrider, message().bytes(new byte[3_000_000], Payload.BINARY).build());

        try (Connection connection = transaction()) {
            Message tooLarge =
                    message().bytes(new byte[3_000_001], Payload.BINARY).build();
            assertThatThrownBy(() -> postrider.outbox(connection).enqueue(tooLarge))
                    .isInstanceOf(InvalidMessageException.class)
                    .hasMessageContaining("max-payload-bytes");
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
        assertThat(claim(postrider).get(0).message().payload().size()).isEqualTo(3_000_000);
    }

    @Test
    @SuppressWarnings("NullAway") // like a caller without NullAway
    void missingMessageIsRefused() throws SQLException {
        Postrider postrider = postrider();
        List<Message> hole = new ArrayList<>(List.of(message().build()));
        hole.add(null);
        try (Connection connection = transaction()) {
            Outbox outbox = postrider.outbox(connection);
            assertThatThrownBy(() -> outbox.enqueue(null)).isInstanceOf(InvalidMessageException.class);
            assertThatThrownBy(() -> outbox.enqueueAll(null)).isInstanceOf(InvalidMessageException.class);
            assertThatThrownBy(() -> outbox.enqueueAll(hole))
                    .isInstanceOf(InvalidMessageException.class)
                    .hasMessageContaining("position 1");
            connection.commit();
        }
        List<Consumer<UnitOfWork>> missing = List.of(
                work -> work.outbox().enqueue(null),
                work -> work.outbox().enqueueAll(hole),
                work -> work.stage((Message) null),
                work -> work.stage((List<Message>) null),
                work -> work.stage(hole));
        for (Consumer<UnitOfWork> call : missing) {
            assertThatThrownBy(() -> postrider.inTransaction(call::accept)).isInstanceOf(InvalidMessageException.class);
        }
        assertThat(live()).isZero();
    }

    @Test
    void oneBadMessageOfABatchLeavesNothingBehind() throws SQLException {
        Postrider postrider = postrider();
        try (Connection connection = transaction()) {
            List<Message> batch = List.of(
                    message().build(),
                    Message.to("nowhere").type("x").text("y").build(),
                    message().build());
            assertThatThrownBy(() -> postrider.outbox(connection).enqueueAll(batch))
                    .isInstanceOf(UnknownTopicException.class);
            connection.commit();
        }
        assertThat(live()).isZero();
    }

    @Test
    void batchThatIsLargerThanAnyPacketGoesThrough() throws SQLException {
        Postrider postrider = postrider();
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            byte[] payload = new byte[1_000_000]; // zeros need two bytes each in statements to MySQL and MariaDB
            payload[0] = (byte) i;
            batch.add(message().bytes(payload, Payload.BINARY).build());
        }
        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).enqueueAll(batch)).noneMatch(Enqueued::isDuplicate);
            connection.commit();
        }
        assertThat(live()).isEqualTo(40);
        assertThat(query("SELECT SUM(OCTET_LENGTH(payload)) FROM postrider_message WHERE topic = '" + topic + "'"))
                .startsWith("40000000");
        execute("DELETE FROM postrider_message WHERE topic = '" + topic + "'");
    }

    // Idempotency keys

    @Test
    void secondUseOfAKeyIsADuplicateThatNamesTheFirstMessage() throws SQLException {
        Postrider postrider = postrider();
        Enqueued first = enqueue(postrider, message().idempotencyKey("k").build());
        try (Connection connection = transaction()) {
            Enqueued second = postrider
                    .outbox(connection)
                    .enqueue(message().idempotencyKey("k").build());
            assertThat(second).isEqualTo(new Enqueued.Duplicate(first.id(), "k", true));
            postrider.outbox(connection).enqueue(message().build());
            connection.commit();
        }
        assertThat(live()).as("the transaction went on after the duplicate").isEqualTo(2);
    }

    @Test
    void keyStaysUsedAfterItsMessageWasDelivered() throws SQLException {
        Postrider postrider = postrider();
        Enqueued first = enqueue(postrider, message().idempotencyKey("k").build());
        postrider.store().acknowledge(claim(postrider).get(0));

        assertThat(enqueue(postrider, message().idempotencyKey("k").build()).id())
                .isEqualTo(first.id());
        assertThat(live()).isZero();
    }

    @Test
    void sameMessageAgainAfterItWasDeliveredIsADuplicate() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().idempotencyKey("k").build();
        enqueue(postrider, message);
        postrider.store().acknowledge(claim(postrider).get(0));

        assertThat(enqueue(postrider, message)).isEqualTo(new Enqueued.Duplicate(message.id(), "k", true));
        assertThat(live()).isZero();
    }

    @Test
    void sameMessagesAgainAmongNewOnesAreDuplicates() throws SQLException {
        Postrider postrider = postrider();
        Message delivered = message().idempotencyKey("delivered").build();
        enqueue(postrider, delivered);
        postrider.store().acknowledge(claim(postrider).get(0));
        Message waiting = message().idempotencyKey("waiting").build();
        enqueue(postrider, waiting);

        try (Connection connection = transaction()) {
            assertThat(postrider
                            .outbox(connection)
                            .enqueueAll(List.of(
                                    message().idempotencyKey("new").build(),
                                    delivered,
                                    message().build(),
                                    waiting,
                                    message().idempotencyKey("delivered").build(),
                                    message().idempotencyKey("new too").build())))
                    .extracting(Enqueued::isDuplicate)
                    .containsExactly(false, true, false, true, true, false);
            connection.commit();
        }
        assertThat(live()).isEqualTo(4);
    }

    @Test
    void batchWithSomeTakenKeysKeepsItsOrder() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().idempotencyKey("3").build());
        postrider.store().acknowledge(claim(postrider).get(0));
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Message.Builder next = message().json("{\"n\":" + i + "}");
            batch.add(i % 4 == 0 ? next.build() : next.idempotencyKey("" + i).build());
        }

        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).enqueueAll(batch))
                    .filteredOn(Enqueued::isDuplicate)
                    .hasSize(1);
            connection.commit();
        }

        batch.remove(3);
        assertThat(claim(postrider).stream().sorted(Comparator.comparingLong(Claim::seq)))
                .extracting(Claim::message)
                .containsExactlyElementsOf(batch);
    }

    @Test
    void messageThatCannotBeWrittenGivesItsKeyBackAlsoWhenTheErrorIsSwallowed() throws SQLException {
        Postrider postrider =
                postrider(builder -> builder.topic(topic).tables(tables -> tables.tablePrefix("refusing_")));
        execute("DELETE FROM refusing_dedup");
        // Simulates a failure after the key is written, such as a full disk or a killed statement.
        execute("ALTER TABLE refusing_message ADD CONSTRAINT refusing_type CHECK (type <> 'refused')");
        Message refused = message().type("refused").idempotencyKey("one").build();
        List<Message> batch = List.of(
                message().idempotencyKey("a").build(),
                message().type("refused").idempotencyKey("b").build());
        try {
            swallowing(connection -> postrider.outbox(connection).enqueue(refused));
            swallowing(connection -> postrider.outbox(connection).enqueueAll(batch));
            assertThat(query("SELECT COUNT(*) FROM refusing_dedup")).isEqualTo("0");
            assertThat(query("SELECT COUNT(*) FROM refusing_message")).isEqualTo("0");
        } finally {
            execute("ALTER TABLE refusing_message DROP CONSTRAINT refusing_type");
        }
        assertThat(enqueue(postrider, refused).isDuplicate()).isFalse();
        execute("DELETE FROM refusing_message");
    }

    /** A caller that ignores the error of a message and commits. */
    private void swallowing(End write) throws SQLException {
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> write.of(connection)).isInstanceOf(StoreException.class);
            try {
                connection.commit();
            } catch (SQLException e) {
                connection.rollback(); // on PostgreSQL the error aborts the transaction, and the driver reports it
            }
        }
    }

    @Test
    void keyThatCannotBeGivenBackTakesTheTransactionWithIt() throws SQLException {
        Postrider postrider =
                postrider(builder -> builder.topic(topic).tables(tables -> tables.tablePrefix("refusing_")));
        execute("DELETE FROM refusing_dedup");
        execute("ALTER TABLE refusing_message ADD CONSTRAINT refusing_type CHECK (type <> 'refused')");
        try {
            swallowing(connection -> postrider
                    .outbox(thatDeletesNothing(connection))
                    .enqueue(message().type("refused").idempotencyKey("one").build()));
            assertThat(query("SELECT COUNT(*) FROM refusing_dedup")).isEqualTo("0");
        } finally {
            execute("ALTER TABLE refusing_message DROP CONSTRAINT refusing_type");
        }
    }

    private static Connection thatDeletesNothing(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                WritingContract.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (arguments != null && arguments[0] instanceof String sql && sql.startsWith("DELETE")) {
                        throw new SQLException("no more deletes");
                    }
                    return method.invoke(connection, arguments);
                });
    }

    @Test
    void duplicateSaysWhetherItsPayloadIsTheSame() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, message().idempotencyKey("k").json("{\"v\":1}").build());

        assertThat(enqueue(
                        postrider,
                        message().idempotencyKey("k").json("{\"v\":2}").build()))
                .isInstanceOfSatisfying(
                        Enqueued.Duplicate.class,
                        duplicate -> assertThat(duplicate.samePayload()).isFalse());
    }

    @Test
    void withoutAKeyTheMessageIdIsTheKey() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().build();

        assertThat(enqueue(postrider, message))
                .isEqualTo(new Enqueued.Created(message.id(), message.id().toString()));
        assertThat(enqueue(postrider, message).isDuplicate())
                .as("the same message again")
                .isTrue();
        try (Connection connection = transaction()) {
            Message other = message().build();
            assertThat(postrider.outbox(connection).enqueueAll(List.of(other, message, other)))
                    .extracting(Enqueued::isDuplicate)
                    .containsExactly(false, true, true);
            connection.commit();
        }
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void idOfAnotherLiveMessageIsRefusedAndLeavesNothingBehind() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(topic).topic(topic + "-2"));
        Message live = message().build();
        enqueue(postrider, live);
        MessageId id = live.id();
        List<Message> others = List.of(
                message().id(id).json("{\"a\":2}").build(),
                message().id(id).tenant("t").build(),
                message().id(id).idempotencyKey("k").build(),
                Message.to(topic + "-2").type("x").id(id).json("{\"a\":1}").build(),
                Message.to(topic + "-2")
                        .type("x")
                        .id(id)
                        .text("y")
                        .idempotencyKey("k")
                        .build());
        for (Message other : others) {
            try (Connection connection = transaction()) {
                refusesId(id, () -> postrider.outbox(connection).enqueue(other));
                refusesId(
                        id,
                        () -> postrider
                                .outbox(connection)
                                .enqueueAll(List.of(
                                        message().build(),
                                        other,
                                        message()
                                                .idempotencyKey("in the same batch")
                                                .build())));
                connection.commit();
            }
            refusesId(id, () -> postrider.inTransaction(work -> work.stage(other)));
        }
        assertThat(live()).isEqualTo(1);
        for (Message again : List.of(
                message().idempotencyKey("k").build(),
                message().idempotencyKey("in the same batch").build(),
                Message.to(topic + "-2").type("x").text("y").idempotencyKey("k").build())) {
            assertThat(enqueue(postrider, again).isDuplicate())
                    .as("key of %s", again)
                    .isFalse();
        }
    }

    private static void refusesId(MessageId id, ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(InvalidMessageException.class).hasMessageContaining(id.toString());
    }

    @Test
    void oneIdForTwoMessagesOfABatchIsRefused() throws SQLException {
        Postrider postrider = postrider();
        Message first = message().build();
        List<Message> same = List.of(
                message().id(first.id()).json("{\"a\":2}").build(),
                message().id(first.id()).idempotencyKey("k").build());
        for (Message second : same) {
            try (Connection connection = transaction()) {
                refusesId(
                        first.id(),
                        () -> postrider
                                .outbox(connection)
                                .enqueueAll(List.of(message().build(), first, second)));
                connection.commit();
            }
        }
        assertThat(live()).isZero();
        assertThat(enqueue(postrider, message().idempotencyKey("k").build()).isDuplicate())
                .isFalse();
    }

    /** The second statement detects the conflict, after the first statement has written its rows. */
    @Test
    void idOfAnotherLiveMessageIsRefusedAlsoLateInALargeBatch() throws SQLException {
        Postrider postrider = postrider();
        Message live = message().build();
        enqueue(postrider, live);
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            Message.Builder next = message().json("{\"n\":" + i + "}");
            batch.add(i % 100 == 0 ? next.idempotencyKey("k" + i).build() : next.build());
        }
        batch.add(message().id(live.id()).idempotencyKey("late").build());
        try (Connection connection = transaction()) {
            refusesId(live.id(), () -> postrider.outbox(connection).enqueueAll(batch));
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
        for (String key : List.of("k0", "k500", "late")) {
            assertThat(enqueue(postrider, message().idempotencyKey(key).build()).isDuplicate())
                    .as(key)
                    .isFalse();
        }
    }

    @Test
    void sameMessageWithAKeyAgainIsADuplicateWhileItIsLive() throws SQLException {
        Postrider postrider = postrider();
        Message message = message().idempotencyKey("k").build();
        Message changed =
                message().id(message.id()).idempotencyKey("k").json("{\"a\":2}").build();
        enqueue(postrider, message);
        assertThat(enqueue(postrider, message)).isEqualTo(new Enqueued.Duplicate(message.id(), "k", true));
        assertThat(enqueue(postrider, changed)).isEqualTo(new Enqueued.Duplicate(message.id(), "k", false));
        Message twice = message().idempotencyKey("k2").build();
        Message twiceChanged =
                message().id(twice.id()).idempotencyKey("k2").json("{\"a\":2}").build();
        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).enqueueAll(List.of(twice, twice, twiceChanged)))
                    .containsExactly(
                            new Enqueued.Created(twice.id(), "k2"),
                            new Enqueued.Duplicate(twice.id(), "k2", true),
                            new Enqueued.Duplicate(twice.id(), "k2", false));
            connection.commit();
        }
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void largeBatchWithSomeIdsThatAreThereAlreadyWritesTheRestInItsOrder() throws SQLException {
        Postrider postrider = postrider();
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 700; i++) {
            Message.Builder next = message().json("{\"n\":" + i + "}");
            // Rows with different columns set: a driver may split a batch where they change.
            batch.add(
                    i % 3 == 0
                            ? next.build()
                            : next.tenant("t").deliverAt(Instant.EPOCH).build());
        }
        enqueue(postrider, batch.get(20));
        enqueue(postrider, batch.get(650));

        try (Connection connection = transaction()) {
            List<Enqueued> answers = postrider.outbox(connection).enqueueAll(batch);
            assertThat(answers)
                    .extracting(Enqueued::id)
                    .isEqualTo(batch.stream().map(Message::id).toList());
            assertThat(answers).filteredOn(Enqueued::isDuplicate).hasSize(2);
            connection.commit();
        }

        List<Claim> claims = postrider.store().claim(request().limit(2000));
        List<Message> written = new ArrayList<>(List.of(batch.get(20), batch.get(650)));
        batch.removeAll(written);
        written.addAll(batch);
        assertThat(claims.stream().sorted(Comparator.comparingLong(Claim::seq)))
                .extracting(Claim::message)
                .isEqualTo(written);
    }

    @Test
    void fewMessagesAreWrittenInTheirOrderAndOnce() throws SQLException {
        Postrider postrider = postrider();
        List<Message> written = new ArrayList<>();
        for (int size = 1; size <= 10; size++) {
            List<Message> batch = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                batch.add(message()
                        .json("{\"size\":" + size + ",\"n\":" + i + "}")
                        .build());
            }
            written.addAll(batch);
            if (size > 1) {
                batch.add(size / 2, batch.get(0));
            }
            try (Connection connection = transaction()) {
                assertThat(postrider.outbox(connection).enqueueAll(batch))
                        .filteredOn(Enqueued::isDuplicate)
                        .hasSize(size > 1 ? 1 : 0);
                connection.commit();
            }
        }
        assertThat(claim(postrider).stream().sorted(Comparator.comparingLong(Claim::seq)))
                .extracting(Claim::message)
                .isEqualTo(written);
    }

    @Test
    void keysThatOnlyLookAlikeAreDifferent() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(topic).topic(topic + "-2"));
        List<Message> messages = List.of(
                message().idempotencyKey("key").build(),
                message().idempotencyKey("KEY").build(),
                message().idempotencyKey("key ").build(),
                message().idempotencyKey("k\u00E9y").build(),
                message().idempotencyKey("ke\u0301y").build(),
                message().idempotencyKey("key").tenant("a").build(),
                message().idempotencyKey("key").tenant("A").build(),
                message().idempotencyKey("b").tenant("a:").build(),
                message().idempotencyKey(":b").tenant("a").build(),
                Message.to(topic + "-2")
                        .type("x")
                        .text("y")
                        .idempotencyKey("key")
                        .build());

        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).enqueueAll(messages)).noneMatch(Enqueued::isDuplicate);
            connection.commit();
        }
        for (Message message : messages) {
            assertThat(enqueue(postrider, message).isDuplicate()).isTrue();
        }
    }

    @Test
    void sameKeyTwiceInOneBatchIsWrittenOnce() throws SQLException {
        Postrider postrider = postrider();
        Message first = message().idempotencyKey("k").json("{\"v\":1}").build();
        Message second = message().idempotencyKey("k").json("{\"v\":2}").build();
        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).enqueueAll(List.of(first, second)))
                    .containsExactly(
                            new Enqueued.Created(first.id(), "k"), new Enqueued.Duplicate(first.id(), "k", false));
            connection.commit();
        }
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void writerOfATakenKeyWaitsAndIsADuplicateWhenTheFirstCommits() throws Exception {
        assertThat(secondWriterWhileFirstIsOpen(Connection::commit).isDuplicate())
                .isTrue();
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void writerOfATakenKeyWaitsAndIsFirstWhenTheOtherRollsBack() throws Exception {
        assertThat(secondWriterWhileFirstIsOpen(Connection::rollback).isDuplicate())
                .isFalse();
        assertThat(live()).isEqualTo(1);
    }

    @FunctionalInterface
    private interface End {
        void of(Connection connection) throws SQLException;
    }

    private Enqueued secondWriterWhileFirstIsOpen(End end) throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (Connection first = transaction()) {
            postrider.outbox(first).enqueue(message().idempotencyKey("k").build());
            CountDownLatch started = new CountDownLatch(1);
            Future<Enqueued> second = thread.submit(() -> {
                started.countDown();
                return enqueue(postrider, message().idempotencyKey("k").build());
            });
            assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
            end.of(first);
            return second.get(60, TimeUnit.SECONDS);
        } finally {
            thread.shutdownNow();
        }
    }

    @Test
    void threeWritersOfOneKeyWithTheFirstRollingBackEndInOneMessage() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Connection first = transaction()) {
            postrider.outbox(first).enqueue(message().idempotencyKey("k").build());
            List<Future<Enqueued>> others = new ArrayList<>();
            CountDownLatch started = new CountDownLatch(2);
            for (int i = 0; i < 2; i++) {
                others.add(threads.submit(() -> {
                    started.countDown();
                    return retrying(postrider, message().idempotencyKey("k").build());
                }));
            }
            assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
            first.rollback();
            List<Boolean> duplicates = new ArrayList<>();
            for (Future<Enqueued> other : others) {
                duplicates.add(other.get(60, TimeUnit.SECONDS).isDuplicate());
            }
            assertThat(duplicates).containsExactlyInAnyOrder(true, false);
        } finally {
            threads.shutdownNow();
        }
        assertThat(live()).isEqualTo(1);
    }

    /** Runs the whole transaction again after a conflict, as every caller does. */
    private Enqueued retrying(Postrider postrider, Message message) throws SQLException {
        for (int attempt = 0; ; attempt++) {
            try {
                return enqueue(postrider, message);
            } catch (TransactionConflictException e) {
                if (attempt == 20) {
                    throw e;
                }
            }
        }
    }

    @Test
    void conflictAtAStricterIsolationIsReportedAsSuch() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        try (Connection strict = transaction()) {
            strict.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            strict.createStatement()
                    .executeQuery("SELECT COUNT(*) FROM postrider_topic")
                    .next();
            Enqueued first = enqueue(postrider, message().idempotencyKey("k").build());
            Message second = message().idempotencyKey("k").build();
            try {
                assertThat(postrider.outbox(strict).enqueue(second).id())
                        .as("a locking read finds the first message")
                        .isEqualTo(first.id());
            } catch (TransactionConflictException e) {
                assertThat(e).hasMessageContaining("run the whole transaction again");
            }
            strict.rollback();
        }
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void tenantPrefixedTopicRefusesAKeyWithoutItsTenant() throws SQLException {
        Postrider postrider = postrider(builder -> builder.topic(topic, declared -> declared.tenantPrefixedKeys()));
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> postrider
                            .outbox(connection)
                            .enqueue(message()
                                    .tenant("acme")
                                    .idempotencyKey("acmeX/1")
                                    .build()))
                    .isInstanceOf(InvalidMessageException.class)
                    .hasMessageContaining("acme/");
            connection.commit();
        }
        assertThat(live()).isZero();

        enqueue(postrider, message().tenant("acme").idempotencyKey("acme/1").build());
        enqueue(postrider, message().tenant("acme").build());
        enqueue(postrider, message().idempotencyKey("free").build());
        assertThat(live()).isEqualTo(3);
    }

    // Units of work

    @Test
    void stagedMessagesAreWrittenTogetherInTheirOrder() throws SQLException {
        Postrider postrider = postrider();

        postrider.inTransaction(work -> {
            for (int i = 0; i < 1200; i++) {
                work.stage(message().json("{\"n\":" + i + "}").build());
            }
        });

        List<Claim> claims = postrider.store().claim(request().limit(2000));
        claims = claims.stream().sorted(Comparator.comparingLong(Claim::seq)).toList();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 1200; i++) {
            expected.add("{\"n\":" + i + "}");
        }
        assertThat(claims)
                .extracting(claim -> claim.message().payload().asText())
                .isEqualTo(expected);
    }

    @Test
    void failingUnitOfWorkLeavesNothing() throws SQLException {
        Postrider postrider = postrider();
        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    work.stage(message().build());
                    work.outbox().enqueue(message().idempotencyKey("k").build());
                    throw new IllegalStateException("no");
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no");
        assertThat(live()).isZero();
        assertThat(enqueue(postrider, message().idempotencyKey("k").build()).isDuplicate())
                .isFalse();
    }

    @Test
    void failureInTheMiddleOfStagingLeavesNoneOfTheBatchStaged() throws SQLException {
        Postrider postrider = postrider();
        postrider.inTransaction(work -> {
            work.stage(message().json("{\"kept\":true}").build());
            assertThatThrownBy(() -> work.stage(new AbstractList<Message>() {
                        @Override
                        public Message get(int index) {
                            if (index == 4) {
                                throw new IllegalStateException("cannot serialise the fifth");
                            }
                            return message().build();
                        }

                        @Override
                        public int size() {
                            return 6;
                        }
                    }))
                    .isInstanceOf(IllegalStateException.class);
        });
        assertThat(claim(postrider))
                .extracting(claim -> claim.message().payload().asText())
                .containsExactly("{\"kept\":true}");
    }

    @Test
    void swallowedFailureOfAWriteIsNotCommitted() throws SQLException {
        Postrider postrider = postrider();
        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    work.stage(message().build());
                    try {
                        work.outbox()
                                .enqueue(Message.to("nowhere")
                                        .type("x")
                                        .text("y")
                                        .build());
                    } catch (UnknownTopicException swallowed) {
                        assertThat(swallowed.topic()).isEqualTo("nowhere");
                    }
                }))
                .isInstanceOf(UnknownTopicException.class);
        assertThat(live()).isZero();
    }

    @Test
    void stagingIsBounded() {
        Postrider postrider = postrider(builder -> builder.topic(topic).tables(tables -> tables.stagedLimit(2)));
        assertThatThrownBy(() -> postrider.inTransaction(work -> work.stage(
                        List.of(message().build(), message().build(), message().build()))))
                .isInstanceOf(InvalidMessageException.class)
                .hasMessageContaining("staged-limit");
    }

    @Test
    void unitOfWorkAnswersAndSharesItsTransaction() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = postrider.callInTransaction(work -> {
            assertThat(work.connection().getAutoCommit()).isFalse();
            return work.outbox().enqueue(message().build()).id();
        });
        assertThat(claim(postrider)).extracting(claim -> claim.message().id()).containsExactly(id);
    }

    @Test
    void unitOfWorkTellsWhatBecameOfItsStagedMessages() {
        List<Event> events = new ArrayList<>();
        Postrider postrider = postrider(builder -> builder.topic(topic).listener(events::add));
        Message first = message().idempotencyKey("k-1").build();
        postrider.inTransaction(work -> work.stage(first));
        assertThat(events).noneMatch(Event.Duplicate.class::isInstance);
        List<UnitOfWork> units = new ArrayList<>();
        Message other = message().build();

        postrider.inTransaction(work -> {
            units.add(work);
            work.stage(message().idempotencyKey("k-1").build());
            work.stage(other);
            work.stage(message().json("{\"b\":2}").idempotencyKey("k-1").build());
            assertThat(work.staged()).isEmpty();
        });

        assertThat(units.get(0).staged())
                .containsExactly(
                        new Enqueued.Duplicate(first.id(), "k-1", true),
                        new Enqueued.Created(other.id(), other.effectiveKey()),
                        new Enqueued.Duplicate(first.id(), "k-1", false));
        assertThat(events)
                .filteredOn(Event.Duplicate.class::isInstance)
                .extracting(event -> ((Event.Duplicate) event).samePayload())
                .containsExactly(true, false);
    }

    // The connection of a unit of work

    /** A commit during the work would make a part of it permanent, even if the rest fails. */
    @Test
    void workCannotEndItsTransaction() throws SQLException {
        Postrider postrider = postrider();
        List<Throwable> refusals = new ArrayList<>();
        Throwable atTheEnd = catchThrowable(() -> postrider.inTransaction(work -> {
            work.outbox().enqueue(message().build());
            Connection connection = work.connection();
            refusals.add(catchThrowable(connection::commit));
            refusals.add(catchThrowable(connection::rollback));
            refusals.add(catchThrowable(connection::close));
            refusals.add(catchThrowable(() -> connection.setAutoCommit(true)));
            refusals.add(catchThrowable(() -> connection.abort(Runnable::run)));
            connection.setAutoCommit(false);
            Savepoint before = connection.setSavepoint();
            postrider.outbox(connection).enqueue(message().build());
            connection.rollback(before);
            assertThat(connection.isClosed()).isFalse();
            assertThat(connection.isWrapperFor(Connection.class)).isTrue();
        }));
        assertThat(refusals)
                .hasSize(5)
                .allSatisfy(refusal -> assertThat(refusal)
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.GUARDED))
                        .hasMessageContaining("return from the work to commit"));
        assertThat(atTheEnd).isSameAs(refusals.get(0));
        assertThat(live()).isZero();
    }

    @Test
    void workCannotEndItsTransactionByAStatementEither() throws SQLException {
        Postrider postrider = postrider();
        List<Throwable> refusals = new ArrayList<>();
        Throwable atTheEnd = catchThrowable(() -> postrider.inTransaction(work -> {
            work.outbox().enqueue(message().build());
            try (Statement statement = work.connection().createStatement();
                    PreparedStatement prepared = work.connection().prepareStatement("SELECT 1")) {
                refusals.add(catchThrowable(() -> statement.getConnection().commit()));
                refusals.add(catchThrowable(() -> prepared.getConnection().rollback()));
                refusals.add(catchThrowable(
                        () -> work.connection().getMetaData().getConnection().close()));
                refusals.add(catchThrowable(() -> statement.execute("ROLLBACK")));
                refusals.add(catchThrowable(() -> statement.executeUpdate("COMMIT")));
                refusals.add(catchThrowable(() -> work.connection().prepareStatement("COMMIT")));
                refusals.add(catchThrowable(() -> statement.execute("SELECT 1; COMMIT")));
                ResultSet rows = prepared.executeQuery();
                refusals.add(
                        catchThrowable(() -> rows.getStatement().getConnection().rollback()));
                assertThat(rows.getStatement()).isSameAs(prepared);
                assertThat(rows.next()).isTrue();
            }
        }));
        assertThat(refusals)
                .hasSize(8)
                .allSatisfy(refusal -> assertThat(refusal)
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.GUARDED)));
        assertThat(atTheEnd).as("the first that is more than a close").isSameAs(refusals.get(0));
        assertThat(live()).isZero();
    }

    /** The author of the work wanted a rollback, and the library that he calls swallows the refusal. */
    @Test
    void workWhoseRollbackWasRefusedIsNotCommitted() throws SQLException {
        Postrider postrider = postrider();
        for (ThrowingConsumer<Connection> end : List.<ThrowingConsumer<Connection>>of(
                Connection::rollback, connection -> connection.createStatement().execute("ROLLBACK"))) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        work.stage(message().build());
                        assertThat(catchThrowable(() -> end.accept(work.connection())))
                                .isNotNull();
                    }))
                    .isInstanceOfSatisfying(
                            UnusableConnectionException.class,
                            e -> assertThat(e.problem()).isEqualTo(Problem.GUARDED));
        }
        assertThat(live()).isZero();
    }

    /** Switching autocommit on for the pool would commit. */
    @Test
    void workWhoseRollbackFailsIsNotCommitted() throws SQLException {
        postrider();
        DataSource failing = new WatchedDataSource(dataSource()) {
            @Override
            protected Object on(Call call) throws Throwable {
                if (call.name().equals("rollback")) {
                    throw new SQLException("the rollback failed");
                }
                return call.proceed();
            }
        };
        try (Postrider postrider = Postrider.on(failing).topic(topic).build()) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        work.outbox().enqueue(message().build());
                        throw new IllegalStateException("the work failed");
                    }))
                    .hasMessage("the work failed");
        }
        assertThat(live()).isZero();
    }

    /** A text in which the end is hidden is run, and the transaction is proved after it: nothing may say that it was rolled back. */
    @Test
    void workThatEndsItsTransactionUnseenIsToldThatPartOfItMayBeCommitted() throws SQLException {
        String end = hiddenCommit();
        Postrider postrider = postrider();
        Inbox inbox = postrider.inbox("hidden-" + topic);
        List<ThrowingConsumer<UnitOfWork>> ways = List.of(
                work -> swallowing(work.connection(), end),
                work -> run(work.connection(), end),
                work -> {
                    swallowing(work.connection(), end);
                    throw new IllegalStateException("failed");
                },
                work -> postrider.commands().join(work.connection(), command(newId()), joined -> {
                    run(joined.connection(), end);
                    return "done";
                }),
                work -> inbox.process(work.connection(), received(newId()), inner -> run(inner.connection(), end)));
        for (ThrowingConsumer<UnitOfWork> way : ways) {
            List<ThrowingCallable> calls = List.of(
                    () -> postrider.inTransaction(work -> way.accept(work)),
                    () -> inbox.process(received(newId()), work -> way.accept(work)));
            for (ThrowingCallable call : calls) {
                isToldOfTheEnd(call);
            }
        }
        assertThat(live()).isZero();
        Command<String> command = command(newId());
        isToldOfTheEnd(() -> postrider.commands().run(command, work -> {
            swallowing(work.connection(), end);
            return "done";
        }));
        assertThat(postrider.commands().run(command, work -> "again")).isInstanceOf(CommandResult.Uncertain.class);
    }

    @Test
    void callerWhoseTransactionIsEndedUnseenByAPartIsToldSo() throws SQLException {
        String end = hiddenCommit();
        Postrider postrider = postrider();
        for (boolean fails : List.of(false, true)) {
            try (Connection connection = transaction()) {
                isToldOfTheEnd(() -> postrider.commands().join(connection, command(newId()), work -> {
                    swallowing(work.connection(), end);
                    if (fails) {
                        throw new IllegalStateException("failed");
                    }
                    return "done";
                }));
                connection.rollback();
                isToldOfTheEnd(() -> postrider.inbox("hidden-" + topic).process(connection, received(newId()), work -> {
                    swallowing(work.connection(), end);
                    if (fails) {
                        throw new IllegalStateException("failed");
                    }
                }));
                connection.rollback();
            }
        }
    }

    private static void isToldOfTheEnd(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(Problem.ENDED))
                .hasMessageContaining("may be committed");
    }

    /** The transaction is over, so the statement itself fails, and user code swallows that. */
    private static void swallowing(Connection connection, String sql) {
        isToldOfTheEnd(() -> run(connection, sql));
        isToldOfTheEnd(connection::createStatement);
    }

    private static void run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static Command<String> command(String key) {
        return Command.named("pay").caller("ada").key(key).fingerprint("{}").returningText();
    }

    private static String newId() {
        return UUID.randomUUID().toString();
    }

    private static Message received(String id) {
        return Message.received("elsewhere", id).type("x").text("y").build();
    }

    /** A rejected command and a failed part are undone by a savepoint: what is added to them later would be committed without them. */
    @Test
    void unitOfAPartThatFailedIsClosed() throws SQLException {
        Postrider postrider = postrider();
        List<UnitOfWork> failed = new ArrayList<>();
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> postrider.commands().join(connection, command(newId()), work -> {
                        failed.add(work);
                        throw new IllegalStateException("failed");
                    }))
                    .hasMessage("failed");
            assertThatThrownBy(() -> postrider.inbox("closed").process(connection, received(newId()), work -> {
                        failed.add(work);
                        throw new IllegalStateException("failed");
                    }))
                    .hasMessage("failed");
            assertThat(failed)
                    .hasSize(2)
                    .allSatisfy(work -> isClosed(() -> work.stage(message().build())))
                    .allSatisfy(work ->
                            isClosed(() -> work.outbox().enqueue(message().build())));
            connection.commit();
        }
        assertThat(live()).isZero();
    }

    private static void isClosed(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(Problem.CLOSED));
    }

    @Test
    void messageThatIsStagedAfterTheEndIsRefused() {
        Postrider postrider = postrider();
        List<UnitOfWork> ended = new ArrayList<>();
        postrider.inTransaction(ended::add);
        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    ended.add(work);
                    throw new IllegalStateException("undone");
                }))
                .hasMessage("undone");

        assertThat(ended)
                .hasSize(2)
                .allSatisfy(work -> assertThatThrownBy(
                                () -> work.stage(message().build()))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.CLOSED)))
                .allSatisfy(work -> assertThatThrownBy(
                                () -> work.outbox().enqueue(message().build()))
                        .isInstanceOfSatisfying(
                                UnusableConnectionException.class,
                                e -> assertThat(e.problem()).isEqualTo(Problem.CLOSED)));
    }

    @Test
    void whatTheWorkThrowsComesOutAsItIs() {
        Postrider postrider = postrider();
        SQLException thrown = new SQLException("mine", "23000");
        assertThatThrownBy(() -> postrider.inTransaction(work -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
        Message received =
                Message.received("elsewhere", topic).type("x").text("y").build();
        assertThatThrownBy(() -> postrider.inbox("billing").process(received, work -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    /** Same rule as for an enqueued message: work that ignores the error cannot commit the rest. */
    @Test
    void swallowedRefusalOfAStagedMessageIsNotCommitted() throws SQLException {
        Postrider postrider = postrider();
        List<Message> refused = new ArrayList<>();
        refused.add(Message.to("nowhere").type("x").text("y").build());
        refused.add(
                message().bytes(new byte[2 << 20], "application/octet-stream").build());
        refused.add(null);
        for (Message message : refused) {
            assertThatThrownBy(() -> postrider.inTransaction(work -> {
                        work.outbox().enqueue(message().build());
                        assertThat(catchThrowable(() -> work.stage(message))).isNotNull();
                    }))
                    .isInstanceOfAny(UnknownTopicException.class, InvalidMessageException.class);
        }
        assertThat(live()).isZero();
    }

    /** Some frameworks have a data source that returns the connection of the thread's transaction. */
    @Test
    void connectionOfTheCallersTransactionIsRefusedWhereOneOfItsOwnIsNeeded() throws SQLException {
        AtomicReference<Connection> bound = new AtomicReference<>();
        DataSource aware = aware(bound);
        postrider();
        try (Postrider postrider = Postrider.on(aware).topic(topic).build();
                Connection outer = transaction()) {
            postrider.outbox(outer).enqueue(message().build());
            bound.set(outer);
            Message received =
                    Message.received("elsewhere", topic).type("x").text("y").build();
            Command<String> command = Command.named(topic)
                    .caller("ada")
                    .key("k-1")
                    .fingerprint("{}")
                    .returningText();

            assertRefused(() -> postrider.inTransaction(work -> {}));
            assertRefused(() -> postrider.inbox("billing").process(received, work -> {}));
            assertRefused(() -> postrider.commands().run(command, work -> "done"));

            assertThat(live()).as("the caller's transaction is still open").isZero();
            bound.set(null);
            outer.rollback();
            postrider.inTransaction(work -> work.stage(message().build()));
        }
        assertThat(live()).isEqualTo(1);
    }

    /**
     * The autocommit mode of that connection is not the default of the data source. With the wrong default, Postrider would commit the
     * transaction of a later caller.
     */
    @Test
    void connectionOfTheCallersTransactionIsRefusedWhenPostriderIsBuilt() throws SQLException {
        postrider();
        AtomicReference<Connection> bound = new AtomicReference<>();
        PostriderBuilder builder = Postrider.on(aware(bound)).topic(topic);
        try (Connection outer = transaction()) {
            bound.set(outer);
            assertRefused(builder::build);
            bound.set(null);
            outer.rollback();
        }
        try (Postrider postrider = builder.build()) {
            postrider.inTransaction(work -> work.stage(message().build()));
        }
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void dataSourceWithoutAutocommitIsTaken() throws SQLException {
        postrider();
        DataSource manual = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(dataSource(), arguments);
                    if (answer instanceof Connection connection) {
                        connection.setAutoCommit(false);
                    }
                    return answer;
                });
        try (Postrider postrider = Postrider.on(manual).topic(topic).build()) {
            postrider.inTransaction(work -> work.stage(message().build()));
        }
        assertThat(live()).isEqualTo(1);
    }

    private DataSource aware(AtomicReference<Connection> bound) {
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, arguments) -> {
                    Connection current = bound.get();
                    return current != null && method.getName().equals("getConnection")
                            ? unclosed(current)
                            : method.invoke(dataSource(), arguments);
                });
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(Problem.IN_TRANSACTION))
                .hasMessageContaining("postrider.outbox(connection)");
    }

    private static Connection unclosed(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                WritingContract.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                        method.getName().equals("close") ? null : method.invoke(connection, arguments));
    }
}
