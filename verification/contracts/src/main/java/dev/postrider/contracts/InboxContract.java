package dev.postrider.contracts;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.event.Event;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.InboxWork;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.store.Claim;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of the inbox: each received message takes effect once per consumer, also after faults and duplicates. */
public abstract class InboxContract extends DatabaseContract {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** MySQL and MariaDB repeat the same list of lock waits to a client that asks more often. */
    private static final Duration POLL_EVERY = Duration.ofMillis(150);

    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** A data source on another database of the same server, with Postrider's tables in it. */
    protected abstract DataSource foreignDataSource();

    @BeforeEach
    void makeTheTableOfEffects() throws SQLException {
        // The name of the topic is also the name of the consumer, and marks the rows that the handlers write.
        execute(
                "CREATE TABLE IF NOT EXISTS inbox_effect (consumer VARCHAR(100) NOT NULL, message VARCHAR(100) NOT NULL)");
        execute("CREATE TABLE IF NOT EXISTS inbox_account (id VARCHAR(100) PRIMARY KEY, balance INT NOT NULL)");
    }

    @AfterEach
    void stopThreads() {
        threads.shutdownNow();
    }

    @Test
    void messageTakesEffectOnce() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").build();

        ProcessResult first = inbox.process(message, effect(message));
        ProcessResult second = inbox.process(message, effect(message));

        assertThat(first.isProcessed()).isTrue();
        assertThat(first.isDone()).isTrue();
        assertThat(second.isDuplicate()).isTrue();
        assertThat(second.isDone()).isTrue();
        assertThat(effects()).isEqualTo(1);
        assertThat(((ProcessResult.AlreadyProcessed) second).firstSeenAt())
                .as("by the database's clock, in any time zone")
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
    }

    /** A reported deadlock is over. After a lock timeout, the lock may stay locked for as long again. */
    @Test
    void workThatWaitedForALockInVainIsNotRunAgain() {
        Inbox inbox = inbox();
        AtomicInteger runs = new AtomicInteger();

        assertThatThrownBy(() -> inbox.process(received("17").build(), work -> {
                    runs.incrementAndGet();
                    throw new SQLException("no lock in time", "55P03");
                }))
                .isInstanceOf(TransactionConflictException.class);

        assertThat(runs).hasValue(1);
    }

    @Test
    void whatTheHandlerDidIsRolledBackWithTheMark() throws SQLException {
        Postrider postrider = postrider();
        Inbox inbox = postrider.inbox(topic);
        Message message = received("17").build();

        assertThatThrownBy(() -> inbox.process(message, work -> {
                    effect(message).run(work);
                    work.outbox().enqueue(message().build());
                    work.stage(message().build());
                    throw new IOException("the printer is on fire");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("the printer is on fire");

        assertThat(effects()).isZero();
        assertThat(live()).isZero();
        assertThat(marks()).isZero();
        assertThat(inbox.process(message, effect(message)).isProcessed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void messageThatCannotBeWrittenRollsBackTheMark() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").build();

        assertThatThrownBy(() -> inbox.process(message, work -> {
                    effect(message).run(work);
                    work.stage(Message.to("undeclared-by-anyone")
                            .type("t")
                            .json("1")
                            .build());
                }))
                .isInstanceOf(UnknownTopicException.class);

        assertThat(effects()).isZero();
        assertThat(marks()).isZero();
    }

    @Test
    void whatTheHandlerSendsNamesItsCause() throws SQLException {
        Postrider postrider = postrider();
        TraceContext trace = new TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", null);
        Message message = received("17").correlationId("talk").trace(trace).build();

        postrider.inbox(topic).process(message, work -> {
            work.outbox().enqueue(message().key("at once").build());
            work.outbox().enqueueAll(List.of(message().key("at once, of many").build()));
            work.stage(message().key("staged").build());
            work.stage(List.of(message().key("staged, of many").build()));
        });

        assertThat(claim(postrider)).hasSize(4).extracting(Claim::message).allSatisfy(sent -> {
            assertThat(sent.correlationId()).isEqualTo("talk");
            assertThat(sent.causationId()).isEqualTo(message.id().toString());
            assertThat(sent.trace()).isEqualTo(trace);
        });
    }

    @Test
    void whatTheHandlerSendsIsHandedOverAfterTheCommit() throws Exception {
        CountDownLatch delivered = new CountDownLatch(1);
        List<Event> events = new CopyOnWriteArrayList<>();
        Postrider postrider =
                postrider(builder -> builder.topic(topic, t -> t.deliver(delivery -> delivered.countDown()))
                        .listener(events::add));
        postrider.start();

        postrider
                .inbox(topic)
                .process(received("17").build(), work -> work.stage(message().build()));

        assertThat(delivered.await(LONG.toSeconds(), SECONDS)).isTrue();
        assertThat(events).anyMatch(event -> event instanceof Event.HandedOver);
    }

    @Test
    void consumersAndTenantsDoNotKnowOfEachOther() throws SQLException {
        Postrider postrider = postrider();
        List<Message> same = List.of(
                received("17").build(),
                received("17").tenant("acme").build(),
                received("17").tenant("Acme").build(),
                received("17").tenant("acme ").build());
        for (String consumer : List.of(topic, topic + "-B", topic + "-b")) {
            Inbox inbox = postrider.inbox(consumer);
            for (Message message : same) {
                assertThat(inbox.process(message, effect(message)).isProcessed())
                        .as("%s of tenant '%s'", consumer, message.tenant())
                        .isTrue();
                assertThat(inbox.process(message, effect(message)).isDuplicate())
                        .isTrue();
            }
        }
        assertThat(effects()).isEqualTo(12);
    }

    @Test
    void sameIdWithAnotherPayloadIsACollision() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").json("{\"amount\":1}").build();
        Message other = received("17").json("{\"amount\":1000}").build();
        inbox.process(message, effect(message));

        ProcessResult result = inbox.process(other, effect(other));

        assertThat(result.isCollision()).isTrue();
        assertThat(result.isDone()).isFalse();
        assertThat(((ProcessResult.Collision) result).firstSeenAt())
                .isBefore(Instant.now().plusSeconds(60));
        assertThat(effects()).isEqualTo(1);
        assertThat(inbox.process(message, effect(message)).isDuplicate())
                .as("the first message stays valid")
                .isTrue();
    }

    @Test
    void listenersHearOfEachOnceAndOnlyOfWhatCounts() throws SQLException {
        List<Event> events = new CopyOnWriteArrayList<>();
        Inbox inbox =
                postrider(builder -> builder.topic(topic).listener(events::add)).inbox(topic);
        Message message = received("17").build();
        Message other = received("17").json("2").build();

        assertThatThrownBy(() -> inbox.process(message, work -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        inbox.process(message, work -> {});
        inbox.process(message, work -> {});
        inbox.process(other, work -> {});

        assertThat(events).hasSize(3);
        assertThat(events.get(0)).isInstanceOfSatisfying(Event.Processed.class, event -> {
            assertThat(event.consumer()).isEqualTo(topic);
            assertThat(event.message()).isEqualTo(message);
        });
        assertThat(events.get(1)).isEqualTo(new Event.DuplicateReceived(topic, message));
        assertThat(events.get(2)).isEqualTo(new Event.Collided(topic, other));
    }

    @Test
    void badInputIsRefusedBeforeAnythingIsWritten() throws SQLException {
        Postrider postrider = postrider();
        Inbox inbox = postrider.inbox(topic);
        List<Message> missing = Arrays.asList(null, null);
        for (String consumer : Arrays.asList(null, "", " ", "a b", "x".repeat(101), "-a", "a/b", "ä")) {
            assertThatThrownBy(() -> postrider.inbox(consumer))
                    .as("consumer '%s'", consumer)
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageStartingWith("consumer must be");
        }
        assertThatThrownBy(() -> inbox.process(missing.get(0), work -> {})).isInstanceOf(InvalidMessageException.class);
        try (Connection connection = transaction()) {
            Message message = received("17").build();
            assertThatThrownBy(() -> inbox.accept(connection, Arrays.asList(message, null)))
                    .isInstanceOf(InvalidMessageException.class)
                    .hasMessage("message is missing at position 1");
            connection.commit();
        }
        assertThat(marks()).isZero();
    }

    /** Such a message would get a new id each time it arrives, and would never be a duplicate. */
    @Test
    void messageWithoutAnIdOfItsSenderIsRefused() throws SQLException {
        Inbox inbox = inbox();
        Message built = Message.to("elsewhere").type("t").json("1").build();
        try (Connection connection = transaction()) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> inbox.process(built, effect(built)),
                    () -> inbox.process(built.causedBy(received("17").build()), effect(built)),
                    () -> inbox.process(connection, built, effect(built)),
                    () -> inbox.accept(connection, List.of(received("17").build(), built)),
                    () -> inbox.receive(List.of(built)))) {
                assertThatThrownBy(call)
                        .isInstanceOf(InvalidMessageException.class)
                        .hasMessageContaining("Message.received");
            }
            connection.commit();
        }
        assertThat(effects()).isZero();
        assertThat(marks()).isZero();
    }

    /** Also a message that its sender built without an id, and that was delivered by a local hand-over. */
    @Test
    void messageThatWasDeliveredHasAnIdOfItsSender() throws Exception {
        CountDownLatch delivered = new CountDownLatch(1);
        List<Event> events = new CopyOnWriteArrayList<>();
        AtomicReference<Postrider> node = new AtomicReference<>();
        Postrider postrider = postrider(builder -> builder.topic(
                        topic,
                        t -> t.deliver(delivery -> {
                            Objects.requireNonNull(node.get())
                                    .inbox(topic)
                                    .process(delivery.message(), effect(delivery.message()));
                            delivered.countDown();
                        }))
                .listener(events::add));
        node.set(postrider);
        postrider.start();

        postrider.inTransaction(work -> work.stage(message().build()));

        assertThat(delivered.await(LONG.toSeconds(), SECONDS)).isTrue();
        assertThat(events)
                .anyMatch(event -> event instanceof Event.HandedOver)
                .noneMatch(event -> event instanceof Event.Failed);
        assertThat(effects()).isEqualTo(1);
    }

    // In the caller's transaction

    @Test
    void callerCommitsMarkAndWorkTogether() throws SQLException {
        Postrider postrider = postrider();
        Inbox inbox = postrider.inbox(topic);
        Message message = received("17").build();
        InboxWork<SQLException> work = unit -> {
            effect(message).run(unit);
            unit.stage(message().build());
        };
        try (Connection connection = transaction()) {
            assertThat(inbox.process(connection, message, work).isProcessed()).isTrue();
            connection.rollback();

            assertThat(inbox.process(connection, message, work).isProcessed())
                    .as("the rollback removed the mark")
                    .isTrue();
            assertThat(inbox.process(connection, message, work).isDuplicate())
                    .as("known within the transaction, too")
                    .isTrue();
            connection.commit();
        }
        assertThat(inbox.process(message, work).isDuplicate()).isTrue();
        assertThat(effects()).isEqualTo(1);
        assertThat(live()).isEqualTo(1);
        assertThat(claim(postrider).get(0).message().causationId())
                .isEqualTo(message.id().toString());
    }

    @Test
    void savepointRollbackTakesTheMarkWithIt() throws SQLException {
        Inbox inbox = inbox();
        Message kept = received("kept").build();
        Message dropped = received("dropped").build();
        try (Connection connection = transaction()) {
            inbox.process(connection, kept, effect(kept));
            Savepoint savepoint = connection.setSavepoint();
            inbox.process(connection, dropped, effect(dropped));
            connection.rollback(savepoint);
            connection.commit();
        }
        assertThat(effects()).isEqualTo(1);
        assertThat(inbox.process(kept, effect(kept)).isDuplicate()).isTrue();
        assertThat(inbox.process(dropped, effect(dropped)).isProcessed()).isTrue();
    }

    @Test
    void failedWorkIsUndoneAndTheCallersTransactionGoesOn() throws SQLException {
        Inbox inbox = inbox();
        Message good = received("good").build();
        Message bad = received("bad").build();
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> inbox.process(connection, bad, work -> {
                        effect(bad).run(work);
                        work.stage(message().build());
                        try (PreparedStatement broken =
                                work.connection().prepareStatement("SELECT 1 FROM no_such_table")) {
                            broken.executeQuery();
                        }
                    }))
                    .isInstanceOf(SQLException.class);
            assertThat(inbox.process(connection, good, effect(good)).isProcessed())
                    .isTrue();
            connection.commit();
        }
        assertThat(effects()).isEqualTo(1);
        assertThat(live()).isZero();
        assertThat(inbox.process(bad, effect(bad)).isProcessed())
                .as("its mark was not committed without its work")
                .isTrue();
    }

    @Test
    void connectionThatIsInNoTransactionOfThisDatabaseIsRefused() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").build();
        try (Connection connection = dataSource().getConnection()) {
            connection.setAutoCommit(true);
            refuses(Problem.AUTOCOMMIT, () -> inbox.process(connection, message, effect(message)));
            refuses(Problem.AUTOCOMMIT, () -> inbox.accept(connection, List.of(message)));
        }
        try (Connection connection = foreignDataSource().getConnection()) {
            connection.setAutoCommit(false);
            refuses(Problem.FOREIGN, () -> inbox.process(connection, message, effect(message)));
            refuses(Problem.FOREIGN, () -> inbox.accept(connection, List.of(message)));
        }
        Connection closed = transaction();
        closed.close();
        refuses(Problem.CLOSED, () -> inbox.process(closed, message, effect(message)));
        refuses(Problem.CLOSED, () -> inbox.accept(closed, List.of(message)));
        assertThat(marks()).isZero();
        assertThat(effects()).isZero();
    }

    @Test
    void readOnlyTransactionIsRefused() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").build();
        try (Connection connection = dataSource().getConnection()) {
            connection.setReadOnly(true);
            if (!connection.isReadOnly()) {
                return; // H2 ignores the setting
            }
            connection.setAutoCommit(false);
            refuses(Problem.READ_ONLY, () -> inbox.process(connection, message, effect(message)));
            connection.rollback();
            refuses(Problem.READ_ONLY, () -> inbox.accept(connection, List.of(message)));
            connection.rollback();
            connection.setReadOnly(false);
        }
        assertThat(marks()).isZero();
    }

    // Batches

    @Test
    void onlyNewOnesComeBackInTheirOrder() throws SQLException {
        Inbox inbox = inbox();
        Message known = received("known").build();
        inbox.process(known, work -> {});
        Message third = received("3").build();
        Message first = received("1").build();
        Message second = received("2").build();
        Message otherSecond = received("2").json("other").build();
        Message otherKnown = received("known").json("other").build();

        Accepted accepted = accept(inbox, List.of(third, known, first, third, second, otherKnown, otherSecond));

        assertThat(accepted.fresh()).containsExactly(third, first, second);
        assertThat(accepted.duplicates()).extracting(Accepted.Known::message).containsExactly(known, third);
        assertThat(accepted.collisions()).extracting(Accepted.Known::message).containsExactly(otherKnown, otherSecond);
        assertThat(accepted.tooOld()).isEmpty();
        assertThat(accepted.duplicates())
                .extracting(Accepted.Known::firstSeenAt)
                .allMatch(time -> time.isAfter(Instant.now().minusSeconds(60)));
        assertThat(marks()).isEqualTo(4);
        Accepted again = accept(inbox, List.of(second, third));
        assertThat(again.fresh()).isEmpty();
        assertThat(again.duplicates()).extracting(Accepted.Known::message).containsExactly(second, third);
    }

    @Test
    void emptyBatchIsNothing() throws SQLException {
        Accepted accepted = accept(inbox(), List.of());
        assertThat(accepted).isEqualTo(new Accepted(List.of(), List.of(), List.of(), List.of()));
    }

    @Test
    void batchLargerThanAStatementKeepsItsOrder() throws SQLException {
        Inbox inbox = inbox();
        List<Message> batch = batch(1_203);
        accept(inbox, batch.subList(0, 100));
        accept(inbox, batch.subList(700, 701));
        Collections.reverse(batch);

        Accepted accepted = accept(inbox, batch);

        List<Message> expected = new ArrayList<>(batch);
        expected.removeAll(
                accepted.duplicates().stream().map(Accepted.Known::message).toList());
        assertThat(accepted.duplicates()).hasSize(101);
        assertThat(accepted.fresh()).hasSize(1_102).isEqualTo(expected);
        assertThat(marks()).isEqualTo(1_203);
    }

    @Test
    void batchSharesTheFateOfItsTransaction() throws SQLException {
        Inbox inbox = inbox();
        List<Message> batch = batch(3);
        try (Connection connection = transaction()) {
            assertThat(inbox.accept(connection, batch).fresh()).isEqualTo(batch);
            connection.rollback();
        }
        assertThat(marks()).isZero();
        assertThat(accept(inbox, batch).fresh()).isEqualTo(batch);
    }

    @Test
    void batchesThatOverlapGiveEachMessageToOneOfThem() throws Exception {
        needsConcurrency();
        Inbox inbox = inbox();
        for (int round = 0; round < 10; round++) {
            List<Message> batch = batch(60);
            List<Message> reversed = new ArrayList<>(batch);
            Collections.reverse(reversed);
            CyclicBarrier barrier = new CyclicBarrier(2);

            Future<Accepted> one = threads.submit(accepting(inbox, batch, barrier));
            Future<Accepted> two = threads.submit(accepting(inbox, reversed, barrier));

            List<Message> fresh = new ArrayList<>(get(one).fresh());
            fresh.addAll(get(two).fresh());
            assertThat(fresh).containsExactlyInAnyOrderElementsOf(batch);
        }
    }

    private Callable<Accepted> accepting(Inbox inbox, List<Message> batch, CyclicBarrier barrier) {
        return () -> {
            try (Connection connection = transaction()) {
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                barrier.await();
                Accepted accepted = inbox.accept(connection, batch);
                connection.commit();
                return accepted;
            }
        };
    }

    // Concurrent calls

    @Test
    void duplicateWaitsForTheFirstAndIsDropped() throws Exception {
        needsConcurrency();
        Inbox inbox = inbox();
        Message message = received("17").build();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<ProcessResult> first = threads.submit(() -> inbox.process(message, work -> {
            effect(message).run(work);
            inside.countDown();
            await(go);
        }));
        await(inside);
        Future<ProcessResult> second = threads.submit(() -> inbox.process(message, effect(message)));
        awaitLockWaits(1);
        assertThat(second.isDone()).isFalse();

        go.countDown();

        assertThat(get(first).isProcessed()).isTrue();
        assertThat(get(second).isDuplicate()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }

    /** On MySQL and MariaDB, the two waiting transactions then have a shared lock each, and deadlock. */
    @Test
    void whenTheFirstRollsBackOneOfThoseThatWaitTakesItsPlace() throws Exception {
        needsConcurrency();
        Inbox inbox = inbox();
        Message message = received("17").build();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Future<ProcessResult> first = threads.submit(() -> inbox.process(message, work -> {
            effect(message).run(work);
            inside.countDown();
            await(go);
            throw new IllegalStateException("no");
        }));
        await(inside);
        Future<ProcessResult> second = threads.submit(() -> inbox.process(message, effect(message)));
        Future<ProcessResult> third = threads.submit(() -> inbox.process(message, effect(message)));
        awaitLockWaits(2);

        go.countDown();

        assertThatThrownBy(() -> get(first)).hasMessageContaining("no");
        assertThat(List.of(get(second).isProcessed(), get(third).isProcessed())).containsExactlyInAnyOrder(true, false);
        assertThat(List.of(get(second).isDuplicate(), get(third).isDuplicate())).containsExactlyInAnyOrder(true, false);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void ofManyAtOnceOneIsHandled() throws Exception {
        needsConcurrency();
        Inbox inbox = inbox();
        for (int round = 0; round < 5; round++) {
            Message message = received("at once " + round).build();
            CyclicBarrier barrier = new CyclicBarrier(8);
            List<Future<ProcessResult>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(threads.submit(() -> {
                    barrier.await();
                    return inbox.process(message, effect(message));
                }));
            }
            int processed = 0;
            for (Future<ProcessResult> one : all) {
                ProcessResult result = get(one);
                assertThat(result.isDone()).isTrue();
                processed += result.isProcessed() ? 1 : 0;
            }
            assertThat(processed).isEqualTo(1);
            assertThat(effects()).isEqualTo(round + 1);
        }
    }

    @Test
    void workThatDeadlocksIsRunAgain() throws Exception {
        needsConcurrency();
        Inbox inbox = inbox();
        execute("INSERT INTO inbox_account (id, balance) VALUES ('" + topic + "-a', 0)");
        execute("INSERT INTO inbox_account (id, balance) VALUES ('" + topic + "-b', 0)");
        AtomicInteger runs = new AtomicInteger();
        CyclicBarrier bothHoldOne = new CyclicBarrier(2);

        Future<ProcessResult> one = threads.submit(
                () -> inbox.process(received("1").build(), transfer(runs, bothHoldOne, topic + "-a", topic + "-b")));
        Future<ProcessResult> two = threads.submit(
                () -> inbox.process(received("2").build(), transfer(runs, bothHoldOne, topic + "-b", topic + "-a")));

        assertThat(get(one).isProcessed()).isTrue();
        assertThat(get(two).isProcessed()).isTrue();
        assertThat(runs.get()).as("at least one was rolled back").isGreaterThanOrEqualTo(3);
        assertThat(list("SELECT balance FROM inbox_account WHERE id LIKE '" + topic + "-%'"))
                .containsExactly("2", "2");
    }

    /** The first two runs wait for each other when each has locked one row. Later runs do not wait. */
    private static InboxWork<Exception> transfer(AtomicInteger runs, CyclicBarrier meet, String from, String to) {
        return work -> {
            boolean early = runs.incrementAndGet() <= 2;
            credit(work.connection(), from);
            if (early) {
                meet.await(LONG.toSeconds(), SECONDS);
            }
            credit(work.connection(), to);
        };
    }

    private static void credit(Connection connection, String account) throws SQLException {
        try (PreparedStatement update =
                connection.prepareStatement("UPDATE inbox_account SET balance = balance + 1 WHERE id = ?")) {
            update.setString(1, account);
            update.executeUpdate();
        }
    }

    @Test
    void workThatGivesWayEveryTimeEndsInAConflict() throws SQLException {
        Inbox inbox = inbox();
        Message message = received("17").build();
        AtomicInteger runs = new AtomicInteger();
        InboxWork<RuntimeException> givesWay = work -> {
            runs.incrementAndGet();
            throw new IllegalStateException("wrapped as frameworks do", new SQLException("conflict", "40001"));
        };

        assertThatThrownBy(() -> inbox.process(message, givesWay)).isInstanceOf(TransactionConflictException.class);

        assertThat(runs.get()).isBetween(2, 20);
        assertThat(marks()).isZero();
    }

    @Test
    void transactionWithAnOlderSnapshotDoesNotHandleItAgain() throws SQLException {
        needsConcurrency();
        Inbox inbox = inbox();
        Message message = received("17").build();
        try (Connection connection = transaction()) {
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            look(connection);
            inbox.process(message, effect(message));

            assertThat(duplicateOrConflict(() ->
                            inbox.process(connection, message, effect(message)).isDuplicate()))
                    .isTrue();
            connection.rollback();
            look(connection);
            Message other = received("18").build();
            inbox.process(other, effect(other));
            assertThat(duplicateOrConflict(() ->
                            inbox.accept(connection, List.of(received("19").build(), other))
                                            .duplicates()
                                            .size()
                                    == 1))
                    .isTrue();
            connection.rollback();
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        }
        assertThat(effects()).isEqualTo(2);
        assertThat(inbox.process(message, effect(message)).isDuplicate()).isTrue();
    }

    private void look(Connection connection) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT COUNT(*) FROM inbox_effect")) {
            select.executeQuery().close();
        }
    }

    private static boolean duplicateOrConflict(Callable<Boolean> duplicate) {
        try {
            return duplicate.call();
        } catch (TransactionConflictException e) {
            return true;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    // Helpers

    private Inbox inbox() {
        return postrider().inbox(topic);
    }

    private Message.Builder received(String id) {
        return Message.received("elsewhere", topic + "/" + id)
                .type("thing.happened")
                .json("{\"a\":1}");
    }

    private List<Message> batch(int size) {
        List<Message> batch = new ArrayList<>();
        String name = "batch-" + System.nanoTime() + "-";
        IntStream.range(0, size).forEach(i -> batch.add(received(name + i).build()));
        return batch;
    }

    private Accepted accept(Inbox inbox, List<Message> batch) throws SQLException {
        try (Connection connection = transaction()) {
            Accepted accepted = inbox.accept(connection, batch);
            connection.commit();
            return accepted;
        }
    }

    private InboxWork<SQLException> effect(Message message) {
        return work -> {
            try (PreparedStatement insert =
                    work.connection().prepareStatement("INSERT INTO inbox_effect (consumer, message) VALUES (?, ?)")) {
                insert.setString(1, topic);
                insert.setString(2, message.id().toString());
                insert.executeUpdate();
            }
        };
    }

    private long effects() throws SQLException {
        return Long.parseLong(query("SELECT COUNT(*) FROM inbox_effect WHERE consumer = '" + topic + "'"));
    }

    private long marks() throws SQLException {
        return Long.parseLong(query("SELECT COUNT(*) FROM postrider_inbox_mark WHERE consumer = '" + topic + "'"));
    }

    private static void refuses(Problem problem, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(problem));
    }

    /** Waits until the server reports this number of transactions that wait for a lock. */
    private void awaitLockWaits(int count) throws SQLException {
        String waits = isPostgres()
                ? "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                : "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
        long deadline = System.nanoTime() + LONG.toNanos();
        while (Long.parseLong(query(waits)) < count) {
            assertThat(System.nanoTime()).as("too few lock waits").isLessThan(deadline);
            LockSupport.parkNanos(POLL_EVERY.toNanos());
        }
    }

    private boolean isPostgres() throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            return connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LONG.toSeconds(), SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(LONG.toSeconds(), SECONDS);
    }
}
