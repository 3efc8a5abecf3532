package dev.postrider.contracts.engine;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.event.Event;
import dev.postrider.inbox.Accepted;
import dev.postrider.inbox.Inbox;
import dev.postrider.inbox.ProcessResult;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.DatabaseClock;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Marks of the inbox in partitions: as exact as in one table, and dropped by the day. */
@ParameterizedClass(name = "{0}")
@EnumSource(names = {"POSTGRESQL_15", "POSTGRESQL_18"})
final class InboxPartitionsTest {

    private static final Duration DAY = Duration.ofDays(1);
    private static final LocalDate LONG_AGO = LocalDate.of(2026, 1, 10);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final DataSource dataSource;
    private final Postrider postrider;
    private final Inbox inbox;

    InboxPartitionsTest(Engine engine) {
        dataSource =
                Databases.assumeStarted(engine).createDatabase("partitions").dataSource();
        postrider = Postrider.on(dataSource).topic("t").build();
        postrider.migrate();
        inbox = postrider.inbox("billing");
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        postrider.close();
    }

    @Test
    void whatWasKnownBeforeStaysKnown() throws SQLException {
        List<Message> before =
                List.of(message(MessageId.next()), message(new MessageId(UUID.randomUUID())), named("17"));
        before.forEach(this::processed);

        postrider.admin().partitionInboxMarks("ada");
        postrider.admin().partitionInboxMarks("ada");

        before.forEach(message -> assertThat(process(message).isDuplicate()).isTrue());
        processed(message(MessageId.next()));
        assertThat(partitions()).hasSize(8).contains("postrider_inbox_mark_default");
        assertThat(list("SELECT action || ' ' || operator FROM postrider_audit"))
                .containsExactly("PARTITION_INBOX ada");
        assertThat(postrider.admin().inboxes().get(0).marks()).isEqualTo(4);
    }

    @Test
    void schemaIsStillTheOneThatIsExpected() {
        postrider.admin().partitionInboxMarks("ada");
        JdbcDatabase database = database();
        database.check();
        assertThat(database.migrate()).isZero();
    }

    @Test
    void markIsFoundInItsDayWheneverItIsMade() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        Message tomorrow = message(idOf(today().plusDays(1), 5));
        Message nextYear = message(idOf(today().plusYears(1), 5));
        Message yesterday = message(idOf(today().minusDays(1), 5));
        for (Message message : List.of(tomorrow, nextYear, yesterday, named("17"))) {
            processed(message);
            assertThat(process(message).isDuplicate()).isTrue();
        }
        assertThat(partitionOf(tomorrow)).isEqualTo(partition(today().plusDays(1)));
        assertThat(partitionOf(nextYear)).isEqualTo("postrider_inbox_mark_default");
        assertThat(partitionOf(yesterday)).isEqualTo("postrider_inbox_mark_default");
        assertThat(partitionOf(named("17"))).isEqualTo("postrider_inbox_mark_default");
    }

    @Test
    void uniquenessHoldsAcrossPartitions() throws Exception {
        postrider.admin().partitionInboxMarks("ada");
        List<Message> batch = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            batch.add(message(idOf(today().plusDays(i % 10), i)));
            batch.add(message(new MessageId(UUID.randomUUID())));
        }
        CyclicBarrier barrier = new CyclicBarrier(4);
        List<Future<Accepted>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(threads.submit(() -> {
                barrier.await();
                return accept(batch);
            }));
        }
        List<Message> fresh = new ArrayList<>();
        for (Future<Accepted> one : all) {
            fresh.addAll(one.get(60, SECONDS).fresh());
        }
        assertThat(fresh).containsExactlyInAnyOrderElementsOf(batch);
    }

    @Test
    void oldIdIsHandledUntilTheFirstDayIsDropped() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");

        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isZero();

        processed(message(idOf(LONG_AGO, 5)));
    }

    @Test
    void oldDayIsDroppedAndItsIdsAreRefusedFromThenOn() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        dayThatWasMadeLongAgo(LONG_AGO);
        dayThatWasMadeLongAgo(today());
        Message old = message(idOf(LONG_AGO, 5));
        Message olderAndUnseen = message(idOf(LONG_AGO.minusDays(30), 5));
        Message young = message(idOf(today(), 5));
        Message otherVersion = message(new MessageId(UUID.fromString("00000000-0000-4000-8000-000000000001")));
        List.of(old, young, otherVersion).forEach(this::processed);

        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isEqualTo(1);
        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isZero();

        assertThat(partitions()).doesNotContain(partition(LONG_AGO)).contains(partition(today()));
        assertThat(process(old).isTooOld()).isTrue();
        assertThat(process(old).isDone()).isFalse();
        assertThat(process(olderAndUnseen).isTooOld()).isTrue();
        assertThat(process(young).isDuplicate()).isTrue();
        assertThat(process(otherVersion).isDuplicate()).as("no time in it").isTrue();
        processed(message(idOf(LONG_AGO.plusDays(1), 5)));
        Message fresh = message(MessageId.next());
        Accepted accepted = accept(List.of(old, young, fresh, olderAndUnseen));
        assertThat(accepted.tooOld()).containsExactly(old, olderAndUnseen);
        assertThat(accepted.fresh()).containsExactly(fresh);
        assertThat(accepted.duplicates()).extracting(Accepted.Known::message).containsExactly(young);
    }

    /** By a replayed dead letter, a far delivery time, or the clock of a sender. */
    @Test
    void messageOfATopicThatIsTooOldForItsInboxIsKeptAsADeadLetter() throws Exception {
        LocalDate old = today().minusDays(25);
        List<Message> handled = new CopyOnWriteArrayList<>();
        List<Event> events = new CopyOnWriteArrayList<>();
        try (Postrider node = Postrider.on(dataSource)
                .topic("orders", topic -> topic.toInbox("stock"))
                .inbox("stock", stock -> stock.handler("reserve", "*", (message, work) -> handled.add(message)))
                .listener(events::add)
                .build()) {
            node.migrate();
            postrider.admin().partitionInboxMarks("ada");
            dayThatWasMadeLongAgo(old);
            assertThat(retention().maintainInboxPartitions(Optional.of(DAY.multipliedBy(20))))
                    .isEqualTo(1);
            Message dead = order(old, 1).build();
            Message scheduled =
                    order(old, 2).deliverAt(Instant.now().minusSeconds(60)).build();
            Message late = order(old, 3).build();
            node.inTransaction(work -> work.stage(List.of(dead, scheduled, late)));
            execute("UPDATE postrider_message SET state = 'DEAD', reason = 'REJECTED' WHERE id = '" + dead.id() + "'");
            assertThat(node.admin().replay(dead.id(), "ada")).isEqualTo(Repair.DONE);
            Message young = order(today(), 4).build();
            node.inTransaction(work -> work.stage(young));

            node.start();

            eventually(
                    "all have left the topic",
                    () -> list("SELECT id FROM postrider_message WHERE topic = 'orders'")
                            .isEmpty());
            eventually("the young one is handled", () -> handled.size() == 1);
            assertThat(handled).containsExactly(young);
            List<StoredMessage> kept = node.admin().deadLetters("inbox/stock", 10);
            assertThat(kept).hasSize(3).allSatisfy(letter -> {
                assertThat(letter.reason()).isEqualTo("TOO_OLD");
                assertThat(letter.lastError()).contains("older than the marks");
            });
            assertThat(tooOld(events)).containsExactlyInAnyOrder(dead, scheduled, late);

            kept.forEach(letter -> node.admin().replay(letter.message().id(), "ada"));
            eventually("the replayed ones are handled", () -> handled.size() == 4);
            assertThat(handled).containsExactlyInAnyOrder(young, dead, scheduled, late);
        }
    }

    @Test
    void receivedMessageThatIsTooOldIsKeptOnceHoweverOftenItComes() throws SQLException {
        LocalDate old = today().minusDays(25);
        List<Event> events = new CopyOnWriteArrayList<>();
        try (Postrider node = Postrider.on(dataSource)
                .inbox("stock", stock -> stock.handler("reserve", "*", (message, work) -> {}))
                .listener(events::add)
                .build()) {
            node.migrate();
            postrider.admin().partitionInboxMarks("ada");
            dayThatWasMadeLongAgo(old);
            retention().maintainInboxPartitions(Optional.of(DAY.multipliedBy(20)));
            Message message = order(old, 1).build();
            Message same = order(old, 1).tenant("acme").build();

            assertThat(node.inbox("stock").receive(List.of(message, same)).tooOld())
                    .containsExactly(message, same);
            assertThat(node.inbox("stock").receive(List.of(message, same)).tooOld())
                    .containsExactly(message, same);

            assertThat(node.admin().deadLetters("inbox/stock", 10))
                    .hasSize(2)
                    .extracting(StoredMessage::reason)
                    .containsOnly("TOO_OLD");
            assertThat(tooOld(events)).containsExactly(message, same, message, same);
        }
    }

    private static List<Message> tooOld(List<Event> events) {
        return events.stream()
                .filter(Event.TooOldReceived.class::isInstance)
                .map(event -> ((Event.TooOldReceived) event).message())
                .toList();
    }

    @Test
    void nothingIsDroppedWhenMarksAreKeptForEver() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        dayThatWasMadeLongAgo(LONG_AGO);

        assertThat(retention().maintainInboxPartitions(Optional.empty())).isZero();

        assertThat(partitions()).contains(partition(LONG_AGO));
    }

    /** Its first bits look like a time by chance, but its mark is young. */
    @Test
    void idOfAnotherVersionOutlivesTheDayItFellInto() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        dayThatWasMadeLongAgo(LONG_AGO);
        MessageId seven = idOf(LONG_AGO, 5);
        Message four = message(new MessageId(new UUID(
                (seven.value().getMostSignificantBits() & ~0xF000L) | 0x4000L,
                seven.value().getLeastSignificantBits())));
        processed(four);
        assertThat(partitionOf(four)).isEqualTo(partition(LONG_AGO));

        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isEqualTo(1);

        assertThat(process(four).isDuplicate()).isTrue();
        assertThat(partitionOf(four)).isEqualTo("postrider_inbox_mark_default");
    }

    @Test
    void marksOfADayToComeMoveIntoItWhenItIsMade() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        LocalDate day = today().plusDays(3);
        execute("DROP TABLE " + partition(day)); // as if it had not been made yet
        Message early = message(idOf(day, 5));
        processed(early);
        assertThat(partitionOf(early)).isEqualTo("postrider_inbox_mark_default");

        retention().maintainInboxPartitions(Optional.of(DAY));

        assertThat(partitionOf(early)).isEqualTo(partition(day));
        assertThat(process(early).isDuplicate()).isTrue();
    }

    @Test
    void onlyWhatBelongsToNoDayIsPurgedRowByRow() throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        Message tomorrow = message(idOf(today().plusDays(1), 5));
        processed(tomorrow);
        processed(named("17"));
        new DatabaseClock(dataSource).advance(DAY.plusMinutes(1));

        assertThat(retention().purgeInboxMarks(DAY, 10)).isEqualTo(1);

        assertThat(process(tomorrow).isDuplicate()).isTrue();
        processed(named("17"));
    }

    @Test
    void dayInUseIsLeftForTheNextTime() throws Exception {
        postrider.admin().partitionInboxMarks("ada");
        dayThatWasMadeLongAgo(LONG_AGO);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Message old = message(idOf(LONG_AGO, 5));
        Future<ProcessResult> slow = threads.submit(() -> inbox.process(old, work -> {
            inside.countDown();
            go.await(60, SECONDS);
        }));
        assertThat(inside.await(60, SECONDS)).isTrue();

        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isZero();
        go.countDown();
        assertThat(slow.get(60, SECONDS).isProcessed()).isTrue();

        assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isEqualTo(1);
        assertThat(process(old).isTooOld()).isTrue();
    }

    /** The floor rose after the snapshot was taken, which goes on showing the old one. */
    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void transactionWithASnapshotOlderThanTheFloorHandlesNothingAgain(int isolation) throws SQLException {
        postrider.admin().partitionInboxMarks("ada");
        dayThatWasMadeLongAgo(LONG_AGO);
        Message old = message(idOf(LONG_AGO, 5));
        Message other = message(idOf(LONG_AGO, 6));
        processed(old);
        AtomicInteger effects = new AtomicInteger();
        try (Connection connection = dataSource.getConnection()) {
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(false);
            look(connection);
            assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isEqualTo(1);

            assertThatThrownBy(() -> inbox.process(connection, old, work -> effects.incrementAndGet()))
                    .isInstanceOf(TransactionConflictException.class);

            look(connection);
            assertThat(inbox.process(connection, old, work -> effects.incrementAndGet())
                            .isTooOld())
                    .as("with a new snapshot")
                    .isTrue();
            connection.rollback();
            look(connection);
            dayThatWasMadeLongAgo(LONG_AGO.plusDays(1));
            assertThat(retention().maintainInboxPartitions(Optional.of(DAY))).isEqualTo(1);

            assertThatThrownBy(() -> inbox.accept(connection, List.of(message(idOf(LONG_AGO.plusDays(1), 7)), other)))
                    .as("the floor rose again")
                    .isInstanceOf(TransactionConflictException.class);
        }
        assertThat(effects).hasValue(0);
    }

    private void look(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT count(*) FROM postrider_topic").close();
        }
    }

    @Test
    void idThatArrivesWhileItsDayIsMadeIsHandled() throws Exception {
        postrider.admin().partitionInboxMarks("ada");
        LocalDate day = today().plusDays(3);
        execute("DROP TABLE " + partition(day)); // as if it had not been made yet
        Message one = message(idOf(day, 5));
        List<Message> many = List.of(message(idOf(day, 6)), message(idOf(day, 7)));
        for (Callable<Boolean> arrival : List.<Callable<Boolean>>of(
                () -> process(one).isProcessed(),
                () -> acceptUntilDone(many).fresh().size() == 2)) {
            try (Connection maker = dataSource.getConnection();
                    Statement statement = maker.createStatement()) {
                maker.setAutoCommit(false);
                statement.execute("LOCK TABLE ONLY postrider_inbox_mark IN SHARE UPDATE EXCLUSIVE MODE");
                statement.execute("LOCK TABLE postrider_inbox_mark_default IN ACCESS EXCLUSIVE MODE");
                Future<Boolean> arriving = threads.submit(arrival);
                eventually(
                        "it waits for the default partition",
                        () ->
                                !list("SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'postrider_inbox_mark_default'::regclass")
                                        .isEmpty());
                statement.execute(
                        "CREATE TABLE " + partition(day) + " (LIKE postrider_inbox_mark_default INCLUDING DEFAULTS)");
                statement.execute("ALTER TABLE postrider_inbox_mark ATTACH PARTITION " + partition(day)
                        + " FOR VALUES FROM ('" + begin(day) + "') TO ('" + begin(day.plusDays(1)) + "')");
                maker.commit();

                assertThat(arriving.get(60, SECONDS)).isTrue();
            }
            execute("ALTER TABLE postrider_inbox_mark DETACH PARTITION " + partition(day));
            execute("DROP TABLE " + partition(day));
        }
    }

    /** As a caller runs a transaction again that has to give way. */
    private Accepted acceptUntilDone(List<Message> batch) throws SQLException {
        while (true) {
            try {
                return accept(batch);
            } catch (TransactionConflictException e) {
                assertThat(e).hasMessageContaining("again");
            }
        }
    }

    @Test
    void otherDatabasesSayThatTheyCannot() {
        DataSource h2 =
                Databases.assumeStarted(Engine.H2).createDatabase("partitions").dataSource();
        try (Postrider other = Postrider.on(h2).topic("t").build()) {
            other.migrate();
            assertThatThrownBy(() -> other.admin().partitionInboxMarks("ada"))
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("need PostgreSQL");
        }
    }

    private static Message.Builder order(LocalDate day, int number) {
        return Message.to("orders")
                .id(idOf(day, number))
                .type("order.placed")
                .occurredAt(Instant.parse("2026-02-03T04:05:06Z"))
                .json("{\"n\":" + number + "}");
    }

    private static void eventually(String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + SECONDS.toNanos(60);
        while (!condition.call()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            LockSupport.parkNanos(MILLISECONDS.toNanos(20));
        }
    }

    private ProcessResult process(Message message) {
        return inbox.process(message, work -> {});
    }

    private void processed(Message message) {
        assertThat(process(message).isProcessed()).as("%s is new", message.id()).isTrue();
    }

    private Accepted accept(List<Message> batch) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Accepted accepted = inbox.accept(connection, batch);
            connection.commit();
            return accepted;
        }
    }

    private static Message message(MessageId id) {
        return Message.to("elsewhere").id(id).type("t").json("1").build();
    }

    private static Message named(String name) {
        return Message.received("elsewhere", name).type("t").json("1").build();
    }

    /** An id of version 7 of noon on that day. */
    private static MessageId idOf(LocalDate day, int number) {
        Instant noon = day.atTime(12, 0).toInstant(ZoneOffset.UTC);
        return new MessageId(new UUID((noon.toEpochMilli() << 16) | 0x7000L | number, 0x8000_0000_0000_0000L));
    }

    private LocalDate today() throws SQLException {
        return LocalDate.parse(
                list("SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date").get(0));
    }

    private static String partition(LocalDate day) {
        return "postrider_inbox_mark_d" + day.format(DateTimeFormatter.BASIC_ISO_DATE);
    }

    private void dayThatWasMadeLongAgo(LocalDate day) throws SQLException {
        execute("CREATE TABLE " + partition(day) + " PARTITION OF postrider_inbox_mark FOR VALUES FROM ('" + begin(day)
                + "') TO ('" + begin(day.plusDays(1)) + "')");
    }

    private static UUID begin(LocalDate day) {
        return new UUID(day.atStartOfDay().toInstant(ZoneOffset.UTC).toEpochMilli() << 16, 0);
    }

    private List<String> partitions() throws SQLException {
        return list(
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'postrider_inbox_mark'::regclass");
    }

    private String partitionOf(Message message) throws SQLException {
        return list("SELECT tableoid::regclass::text FROM postrider_inbox_mark WHERE message_id = '" + message.id()
                        + "'")
                .get(0);
    }

    private RetentionStore retention() {
        return database().retention();
    }

    private JdbcDatabase database() {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {});
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> list(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        }
    }
}
