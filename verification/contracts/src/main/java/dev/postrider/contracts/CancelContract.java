package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.ChangeResult;
import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageSummary;
import dev.postrider.admin.Paging;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Work;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * The contract of cancelling messages, by the application in its transaction and by operators: a cancelled message is never delivered, and
 * a message that may be in delivery is not cancelled.
 */
public abstract class CancelContract extends LaneFixture {

    private static final Change ANN = Change.by("ann").reason("the order was withdrawn");
    private static final int RACES = 60;

    private Cancellation cancel(Postrider postrider, MessageId id) throws SQLException {
        try (Connection connection = transaction()) {
            Cancellation answer = postrider.outbox(connection).cancel(id);
            connection.commit();
            return answer;
        }
    }

    private Cancellation cancel(Postrider postrider, String tenant, String key) throws SQLException {
        try (Connection connection = transaction()) {
            Cancellation answer = postrider.outbox(connection).cancel(TopicName.of(topic), tenant, key);
            connection.commit();
            return answer;
        }
    }

    private static StoredMessage stored(Postrider postrider, MessageId id) {
        return postrider.admin().find(id).orElseThrow();
    }

    private static MessageId id(LaneClaim claim) {
        return claim.claim().message().id();
    }

    // Unordered topics

    @Test
    void applicationCancelsAPendingMessageInItsTransaction() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();

        assertThat(cancel(postrider, id)).isEqualTo(Cancellation.CANCELLED);

        assertThat(claim(postrider)).isEmpty();
        assertThat(stored(postrider, id)).satisfies(message -> {
            assertThat(message.state()).isEqualTo(State.DEAD);
            assertThat(message.reason()).isEqualTo("CANCELLED");
            assertThat(message.attempts()).isZero();
        });
        assertThat(cancel(postrider, id)).as("again").isEqualTo(Cancellation.CANCELLED);
    }

    @Test
    void rollbackCancelsNothing() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();

        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).cancel(id)).isEqualTo(Cancellation.CANCELLED);
            connection.rollback();
        }

        assertThat(claim(postrider)).hasSize(1);
    }

    @Test
    void unitOfWorkCancelsTogetherWithItsChanges() throws SQLException {
        Postrider postrider = postrider();
        MessageId first = enqueue(postrider, message().build()).id();
        Work<Cancellation, RuntimeException> work = unit -> {
            unit.stage(message().build());
            return unit.outbox().cancel(first);
        };

        assertThat(postrider.callInTransaction(work)).isEqualTo(Cancellation.CANCELLED);

        assertThat(claim(postrider))
                .singleElement()
                .satisfies(claim -> assertThat(claim.message().id()).isNotEqualTo(first));
    }

    @Test
    void messageThatIsCancelledInAnOpenTransactionIsNotClaimed() throws SQLException {
        Postrider postrider = postrider();
        needsConcurrency();
        MessageId first = enqueue(postrider, message().build()).id();
        MessageId second = enqueue(postrider, message().build()).id();

        try (Connection connection = transaction()) {
            assertThat(postrider.outbox(connection).cancel(first)).isEqualTo(Cancellation.CANCELLED);
            assertThat(claim(postrider))
                    .extracting(claim -> claim.message().id())
                    .containsExactly(second);
            connection.rollback();
        }

        assertThat(claim(postrider)).extracting(claim -> claim.message().id()).containsExactly(first);
    }

    @Test
    void claimedMessageIsNotCancelledAndADeliveredOneIsFinished() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();
        Claim claim = claim(postrider).get(0);

        assertThat(cancel(postrider, id)).isEqualTo(Cancellation.IN_DELIVERY);
        assertThat(postrider.admin().apply(Action.CANCEL, id, ANN)).isEqualTo(Repair.BUSY);

        assertThat(postrider.store().acknowledge(claim).isLost()).isFalse();
        assertThat(cancel(postrider, id)).isEqualTo(Cancellation.FINISHED);
        assertThat(postrider.admin().apply(Action.CANCEL, id, ANN)).isEqualTo(Repair.WRONG_STATE);
        assertThat(cancel(postrider, MessageId.next())).isEqualTo(Cancellation.NOT_FOUND);
        assertThat(postrider.admin().apply(Action.CANCEL, MessageId.next(), ANN))
                .isEqualTo(Repair.NOT_FOUND);
    }

    @Test
    void claimWhoseLeaseHasEndedMayStillBeADelivery() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();
        claim(postrider);
        advance(LONGER_THAN_A_LEASE);

        assertThat(cancel(postrider, id)).isEqualTo(Cancellation.IN_DELIVERY);
    }

    @Test
    void scheduledAndRetryingMessagesAreCancelled() throws SQLException {
        Postrider postrider = postrider();
        MessageId retrying = enqueue(postrider, message().build()).id();
        postrider.store().reschedule(claim(postrider).get(0), Duration.ofMinutes(10), "busy");
        MessageId scheduled = enqueue(
                        postrider,
                        message().deliverAt(Instant.now().plusSeconds(600)).build())
                .id();

        assertThat(cancel(postrider, retrying)).isEqualTo(Cancellation.CANCELLED);
        assertThat(cancel(postrider, scheduled)).isEqualTo(Cancellation.CANCELLED);

        advance(Duration.ofMinutes(20));
        assertThat(claim(postrider)).isEmpty();
        assertThat(stored(postrider, retrying).attempts()).isEqualTo(1);
    }

    @Test
    void messageIsCancelledByItsIdempotencyKeyWhichStaysUsed() throws SQLException {
        Postrider postrider = postrider();
        Message acme = message().tenant("acme").idempotencyKey("order-1").build();
        Message other = message().tenant("other").idempotencyKey("order-1").build();
        enqueue(postrider, acme);
        enqueue(postrider, other);

        assertThat(cancel(postrider, "acme", "order-2")).isEqualTo(Cancellation.NOT_FOUND);
        assertThat(cancel(postrider, "acme", "order-1")).isEqualTo(Cancellation.CANCELLED);

        assertThat(claim(postrider)).extracting(claim -> claim.message().id()).containsExactly(other.id());
        assertThat(enqueue(
                        postrider,
                        message().tenant("acme").idempotencyKey("order-1").build()))
                .isInstanceOf(Enqueued.Duplicate.class);
        postrider.admin().discard(acme.id(), "ann");
        assertThat(cancel(postrider, "acme", "order-1"))
                .as("its mark shows that it existed")
                .isEqualTo(Cancellation.FINISHED);
        assertThat(postrider.admin().cancel(TopicName.of(topic), "acme", "order-1", ANN))
                .isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().cancel(TopicName.of(topic), null, "order-1", ANN))
                .isEqualTo(Repair.NOT_FOUND);
        assertThatThrownBy(() -> postrider.admin().cancel(TopicName.of("no-" + topic), null, "order-1", ANN))
                .isInstanceOf(UnknownTopicException.class);
    }

    @Test
    void cancellingNeedsATransaction() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();
        try (Connection connection = dataSource().getConnection()) {
            assertThatThrownBy(() -> postrider.outbox(connection).cancel(id))
                    .isInstanceOf(UnusableConnectionException.class);
        }
    }

    @Test
    void claimsAndCancellationsAtOnceShareTheMessages() throws Exception {
        Postrider postrider = postrider();
        needsConcurrency();
        List<MessageId> ids = new ArrayList<>();
        for (int i = 0; i < RACES; i++) {
            ids.add(enqueue(postrider, message().build()).id());
        }
        Set<MessageId> claimed = ConcurrentHashMap.newKeySet();
        Set<MessageId> cancelled = ConcurrentHashMap.newKeySet();
        CyclicBarrier start = new CyclicBarrier(2);

        both(
                () -> {
                    start.await();
                    int before = -1;
                    while (claimed.size() + cancelled.size() < RACES || before != claimed.size()) {
                        before = claimed.size();
                        for (Claim claim : postrider.store().claim(request().limit(3))) {
                            claimed.add(claim.message().id());
                        }
                    }
                },
                () -> {
                    start.await();
                    for (int i = RACES - 1; i >= 0; i--) { // from the other end
                        if (cancel(postrider, ids.get(i)) == Cancellation.CANCELLED) {
                            cancelled.add(ids.get(i));
                        }
                    }
                });

        assertThat(claimed).doesNotContainAnyElementsOf(cancelled);
        assertThat(claimed.size() + cancelled.size()).isEqualTo(RACES);
    }

    @Test
    void twoOperatorsAtOnceCancelOnce() throws Exception {
        Postrider postrider = postrider();
        needsConcurrency();
        for (int i = 0; i < 10; i++) {
            MessageId id = enqueue(postrider, message().build()).id();
            CyclicBarrier start = new CyclicBarrier(2);
            List<Repair> repairs = new ArrayList<>();
            try (Workers workers = new Workers()) {
                Future<Repair> one = workers.submit(() -> {
                    start.await();
                    return postrider.admin().apply(Action.CANCEL, id, ANN);
                });
                Future<Repair> other = workers.submit(() -> {
                    start.await();
                    return postrider.admin().apply(Action.CANCEL, id, ANN);
                });
                repairs.add(one.get());
                repairs.add(other.get());
            }
            assertThat(repairs).containsOnlyOnce(Repair.DONE);
            assertThat(postrider.admin().audit(Long.MAX_VALUE, 1000))
                    .filteredOn(entry -> id.equals(entry.message()))
                    .singleElement()
                    .satisfies(entry -> {
                        assertThat(entry.action()).isEqualTo("CANCEL");
                        assertThat(entry.reason()).isEqualTo("the order was withdrawn");
                    });
        }
    }

    // Operators

    @Test
    void operatorCancelsWhatAFilterSelectsAndNothingThatIsBeingDelivered() throws SQLException {
        Postrider postrider = postrider();
        enqueue(postrider, 5);
        postrider.store().claim(request().limit(2));
        Filter here = Filter.all().topic(topic);

        assertThat(postrider.admin().apply(Action.CANCEL, here, Change.dryRun()).changed())
                .isEqualTo(3);
        assertThat(postrider.admin().apply(Action.CANCEL, here, ANN))
                .isEqualTo(new ChangeResult(3, 0, null, List.of()));

        assertThat(list("SELECT state FROM postrider_message WHERE topic = '" + topic + "' ORDER BY seq"))
                .containsExactly("PROCESSING", "PROCESSING", "DEAD", "DEAD", "DEAD");
    }

    @Test
    void cancelledMessageIsNotReplayedAndCanBeDiscarded() throws SQLException {
        Postrider postrider = postrider();
        MessageId id = enqueue(postrider, message().build()).id();
        cancel(postrider, id);

        assertThat(postrider.admin().replay(id, "ann")).isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().apply(Action.REPLAY, Filter.dead().topic(topic), ANN))
                .isEqualTo(new ChangeResult(0, 1, null, List.of()));
        assertThat(stored(postrider, id).state()).isEqualTo(State.DEAD);

        assertThat(postrider.admin().discard(id, "ann")).isEqualTo(Repair.DONE);
    }

    @Test
    void cancelledMessageOfAnOrderedTopicIsNotReplayed() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1);
        Holder node = holder();
        LaneClaim head = node.read().get(0);
        node.settle(retry(head));
        assertThat(cancel(postrider, id(head))).isEqualTo(Cancellation.CANCELLED);

        assertThat(postrider.admin().replay(id(head), "ann")).isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().apply(Action.REPLAY, Filter.dead().topic(topic), ANN))
                .isEqualTo(new ChangeResult(0, 1, null, List.of()));
        assertThat(states()).containsExactly("DEAD");
    }

    @Test
    void operatorCancelsMessagesInOrderWhileNoNodeOwnsTheirLane() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2, 3);
        List<MessageId> ids =
                postrider.admin().messages(Filter.all().topic(topic), Paging.oldest(10)).messages().stream()
                        .map(MessageSummary::id)
                        .toList();

        assertThat(postrider.admin().apply(Action.CANCEL, ids.get(1), ANN)).isEqualTo(Repair.DONE);

        Holder node = holder();
        assertThat(postrider.admin().apply(Action.CANCEL, ids.get(2), ANN))
                .as("the node may have read it")
                .isEqualTo(Repair.BUSY);
        assertThat(numbers(node.read())).containsExactly(1, 3);
    }

    @Test
    void operatorCancelsAHeadAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(retry(read.get(0)), blocked(read.get(1)));

        assertThat(postrider.admin().apply(Action.CANCEL, id(read.get(0)), ANN)).isEqualTo(Repair.DONE);

        assertThat(states()).containsExactly("DEAD", "RETRY");
        assertThat(numbers(node.timed())).containsExactly(2);
    }

    // Ordered topics

    @Test
    void headThatWaitsForItsNextAttemptIsCancelledAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2, 3);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(retry(read.get(0)), blocked(read.get(1)), blocked(read.get(2)));

        assertThat(cancel(postrider, id(read.get(0)))).isEqualTo(Cancellation.CANCELLED);

        assertThat(states()).containsExactly("DEAD", "RETRY", "BLOCKED");
        List<LaneClaim> next = node.timed();
        assertThat(numbers(next)).containsExactly(2, 3);
        node.deliver(next);
        assertThat(states()).containsExactly("DEAD");
    }

    @Test
    void onlyMessageOfABlockedKeyIsCancelledAndTheKeyIsFree() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1);
        Holder node = holder();
        LaneClaim head = node.read().get(0);
        node.settle(retry(head));

        assertThat(cancel(postrider, id(head))).isEqualTo(Cancellation.CANCELLED);

        write(postrider, "a", 2);
        List<LaneClaim> next = node.read();
        assertThat(numbers(next)).containsExactly(2);
        assertThat(keyBlocked(node.deliver(next).get(0))).isFalse();
    }

    @Test
    void blockedMessageIsCancelledWhileItsHeadWaits() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2, 3);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(retry(read.get(0)), blocked(read.get(1)), blocked(read.get(2)));

        assertThat(cancelReadingCommitted(postrider, id(read.get(1)))).isEqualTo(Cancellation.CANCELLED);
        assertThat(cancelAtRepeatableRead(postrider, id(read.get(2))))
                .as("an older snapshot could show an earlier head")
                .isEqualTo(Cancellation.MAY_BE_IN_DELIVERY);

        assertThat(states()).containsExactly("RETRY", "DEAD", "BLOCKED");
        advance(Duration.ofMinutes(20));
        assertThat(numbers(node.timed())).containsExactly(1, 3);
    }

    private Cancellation cancelReadingCommitted(Postrider postrider, MessageId id) throws SQLException {
        return cancelAt(Connection.TRANSACTION_READ_COMMITTED, postrider, id);
    }

    private Cancellation cancelAtRepeatableRead(Postrider postrider, MessageId id) throws SQLException {
        return cancelAt(Connection.TRANSACTION_REPEATABLE_READ, postrider, id);
    }

    private Cancellation cancelAt(int isolation, Postrider postrider, MessageId id) throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            int before = connection.getTransactionIsolation();
            connection.setTransactionIsolation(isolation);
            connection.setAutoCommit(false);
            try {
                Cancellation answer = postrider.outbox(connection).cancel(id);
                connection.commit();
                return answer;
            } finally {
                connection.setAutoCommit(true);
                connection.setTransactionIsolation(before);
            }
        }
    }

    @Test
    void parkedMessageIsCancelledAndItsKeyGoesOn() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(new LaneOutcome.Parked(read.get(0).claim(), DeadReason.REJECTED, "no"), blocked(read.get(1)));

        assertThat(cancel(postrider, id(read.get(0)))).isEqualTo(Cancellation.CANCELLED);

        assertThat(states()).containsExactly("DEAD", "RETRY");
        assertThat(stored(postrider, id(read.get(0))).reason()).isEqualTo("CANCELLED");
    }

    @Test
    void messageThatItsNodeMayHaveReadIsNotCancelled() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2);
        Holder node = holder();
        List<LaneClaim> read = node.read();

        assertThat(cancel(postrider, id(read.get(0)))).as("in order").isEqualTo(Cancellation.MAY_BE_IN_DELIVERY);
        node.settle(retryAtOnce(read.get(0)), blocked(read.get(1)));
        List<LaneClaim> due = node.timed();
        assertThat(numbers(due)).containsExactly(1, 2);

        assertThat(cancel(postrider, id(due.get(0)))).as("due").isEqualTo(Cancellation.MAY_BE_IN_DELIVERY);
        assertThat(cancelReadingCommitted(postrider, id(due.get(1))))
                .as("behind it")
                .isEqualTo(Cancellation.MAY_BE_IN_DELIVERY);
        node.deliver(due);
        assertThat(cancel(postrider, id(due.get(0)))).isEqualTo(Cancellation.FINISHED);
    }

    @Test
    void operatorWhoParksAMessageInDeliveryDoesNotMakeItOneThatCanBeCancelled() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1);
        Holder node = holder();
        node.settle(retryAtOnce(node.read().get(0)));
        LaneClaim due = node.timed().get(0);
        assertThat(postrider.admin().apply(Action.PARK, id(due), ANN)).isEqualTo(Repair.DONE);

        assertThat(cancel(postrider, id(due))).isEqualTo(Cancellation.MAY_BE_IN_DELIVERY);
        assertThat(postrider.admin().apply(Action.CANCEL, id(due), ANN)).isEqualTo(Repair.BUSY);
    }

    @Test
    void messageThatAnotherTransactionCancelsIsNotTakenWhenItIsDue() throws SQLException {
        Postrider postrider = ordered();
        needsConcurrency();
        write(postrider, "a", 1, 2);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(retryAtOnce(read.get(0)), blocked(read.get(1)));

        try (Connection canceller = transaction()) { // cancelled just before it was due
            try (Statement statement = canceller.createStatement()) {
                statement.executeUpdate(
                        "UPDATE postrider_message SET state = 'DEAD', reason = 'CANCELLED', updated_at ="
                                + " available_at WHERE seq = "
                                + read.get(0).claim().seq());
            }
            assertThat(node.timed()).as("nor what is behind it").isEmpty();
            canceller.rollback();
        }

        assertThat(numbers(node.timed())).containsExactly(1, 2);
    }

    @Test
    void blockedMessageThatAnotherTransactionCancelsEndsTheReadOfItsKey() throws SQLException {
        Postrider postrider = ordered();
        needsConcurrency();
        write(postrider, "a", 1, 2, 3);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(retryAtOnce(read.get(0)), blocked(read.get(1)), blocked(read.get(2)));

        try (Connection canceller = transaction()) {
            try (Statement statement = canceller.createStatement()) {
                statement.executeUpdate(
                        "UPDATE postrider_message SET state = 'DEAD', reason = 'CANCELLED', updated_at ="
                                + " available_at WHERE seq = "
                                + read.get(1).claim().seq());
            }
            assertThat(numbers(node.timed())).containsExactly(1);
            canceller.commit();
        }
    }

    @Test
    void messageBehindAReplayedOneWaitsForItsOwnAttempt() throws SQLException {
        Postrider postrider = ordered();
        write(postrider, "a", 1, 2);
        Holder node = holder();
        List<LaneClaim> read = node.read();
        node.settle(new Outcome.Buried(read.get(0).claim(), DeadReason.REJECTED, "no"), retry(read.get(1)));
        postrider.admin().replay(id(read.get(0)), "ann");

        List<LaneClaim> due = node.timed();
        assertThat(numbers(due)).as("the second one is not due").containsExactly(1);
        assertThat(cancel(postrider, id(read.get(1)))).isEqualTo(Cancellation.CANCELLED);
        node.deliver(due);

        assertThat(node.timed()).isEmpty();
        assertThat(states()).containsExactly("DEAD");
    }

    @Test
    void messagesThatComeDueWhileTheyAreCancelledAreDeliveredOrCancelled() throws Exception {
        Postrider postrider = ordered();
        needsConcurrency();
        Holder node = holder();
        List<MessageId> ids = new ArrayList<>();
        Instant now = Instant.now();
        try (Connection connection = transaction()) {
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < RACES; i++) {
                boolean isLast = i == RACES - 1; // cancelled in any case, however slow the machine is
                messages.add(ordered("k" + i % 7, i)
                        .deliverAt(isLast ? now.plusSeconds(3600) : now.plusMillis(200 + 8L * i))
                        .build());
            }
            postrider.outbox(connection).enqueueAll(messages).forEach(written -> ids.add(written.id()));
            connection.commit();
        }
        Set<MessageId> delivered = ConcurrentHashMap.newKeySet();
        Set<MessageId> cancelled = ConcurrentHashMap.newKeySet();

        both(
                () -> {
                    List<LaneOutcome> unwritten = new ArrayList<>();
                    eventually("all of them have ended", () -> {
                        List<LaneClaim> read = new ArrayList<>(node.timed());
                        read.addAll(node.read()); // those that were due when they were written
                        for (LaneClaim due : read) {
                            delivered.add(id(due));
                            unwritten.add(delivered(due));
                        }
                        settle(node, unwritten);
                        return unwritten.isEmpty() && delivered.size() + cancelled.size() >= RACES;
                    });
                },
                () -> {
                    for (int i = 0; i < RACES; i++) {
                        if (cancel(postrider, ids.get(i)) == Cancellation.CANCELLED) {
                            cancelled.add(ids.get(i));
                        }
                    }
                });

        assertThat(delivered).doesNotContainAnyElementsOf(cancelled);
        assertThat(delivered.size() + cancelled.size()).isEqualTo(RACES);
        assertThat(live()).isEqualTo(cancelled.size());
    }

    /** Writes outcomes, and keeps those whose rows another transaction has locked for the next time. */
    private static void settle(Holder node, List<LaneOutcome> unwritten) {
        if (!unwritten.isEmpty()) {
            List<Settlement> settled = node.store().settle(unwritten);
            for (int i = settled.size() - 1; i >= 0; i--) {
                if (!settled.get(i).isLocked()) {
                    unwritten.remove(i);
                }
            }
        }
    }

    @FunctionalInterface
    private interface Task {
        void run() throws Exception;
    }

    private static final class Workers implements AutoCloseable {

        private final ExecutorService threads = Executors.newCachedThreadPool();

        <T> Future<T> submit(Callable<T> task) {
            return threads.submit(task);
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    private static void both(Task one, Task other) throws Exception {
        try (Workers workers = new Workers()) {
            Future<Boolean> first = workers.submit(() -> {
                one.run();
                return true;
            });
            Future<Boolean> second = workers.submit(() -> {
                other.run();
                return true;
            });
            second.get();
            first.get();
        }
    }
}
