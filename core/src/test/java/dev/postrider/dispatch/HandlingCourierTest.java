package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.HandOver;
import dev.postrider.store.HandlingStore.End;
import dev.postrider.store.HandlingStore.Handled;
import dev.postrider.store.Outcome;
import dev.postrider.transport.PermanentFailureException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class HandlingCourierTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTime time = new ManualTime();
    private final FakeStore claims = new FakeStore();
    private final FakeHandling store = new FakeHandling();
    private final Map<Held, Outcome> outcomes = new ConcurrentHashMap<>();
    private final List<Message> handled = new CopyOnWriteArrayList<>();
    private final Deque<Runnable> threads = new ArrayDeque<>();

    @Test
    void handledMessageNeedsNoFurtherStatement() {
        Held held = carry(courier(1, handled()), 1).get(0);

        assertThat(outcomes.get(held)).isEqualTo(new Outcome.Handled(held.claim()));
        assertThat(handled).containsExactly(held.claim().message());
    }

    @Test
    void failedHandlerIsTriedAgainAndAPermanentFailureIsNot() {
        Held failed =
                carry(courier(1, thrown(new IllegalStateException("boom"))), 1).get(0);
        Held rejected = carry(courier(1, thrown(new PermanentFailureException("never"))), 1)
                .get(0);

        assertThat(outcomes.get(failed))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class, retry -> assertThat(retry.error()).contains("boom"));
        assertThat(outcomes.get(rejected)).isInstanceOf(Outcome.Buried.class);
    }

    @Test
    void messageThatWentToAnotherWorkerHasNotFailed() {
        ending(End.LOST);

        Held held = carry(courier(1, handled()), 1).get(0);

        assertThat(outcomes.get(held)).isEqualTo(new Outcome.Lost(held.claim()));
    }

    /** Often only for the moment that another node's claim takes to look at it. */
    @Test
    void messageThatSomebodyHasLockedIsTriedAFewTimesAndThenGivenBack() {
        AtomicInteger tries = new AtomicInteger();
        store.ending =
                (ended, together) -> tries.incrementAndGet() < 3 ? new Handled(ended.claim(), End.LOCKED, null) : ended;
        Held forAMoment = carry(courier(1, handled()), 1).get(0);
        assertThat(outcomes.get(forAMoment)).isInstanceOf(Outcome.Handled.class);

        ending(End.LOCKED);
        store.runs.clear();
        Held forLong = carry(courier(1, handled()), 1).get(0);
        assertThat(outcomes.get(forLong)).isEqualTo(new Outcome.Released(forLong.claim()));
        assertThat(store.runs).hasSize(4);
    }

    @Test
    void failureOfTheDatabaseCostsNoAttempt() {
        ending(End.UNDONE);

        Held held = carry(courier(1, handled()), 1).get(0);

        assertThat(outcomes.get(held)).isEqualTo(new Outcome.Released(held.claim()));
    }

    @Test
    void severalShareATransactionAndEachIsHandledAloneWhenItFails() {
        store.ending = (ended, together) ->
                together > 1 ? new Handled(ended.claim(), End.UNDONE, new IllegalStateException("deadlock")) : ended;

        List<Held> held = carry(courier(10, handled()), 3);

        assertThat(store.runs).extracting(List::size).containsExactly(3, 1, 1, 1);
        assertThat(held).allSatisfy(each -> assertThat(outcomes.get(each)).isInstanceOf(Outcome.Handled.class));
    }

    @Test
    void noMoreThanAllowedShareATransaction() {
        carry(courier(2, handled()), 5);

        assertThat(store.runs).extracting(List::size).containsExactly(2, 2, 1);
    }

    @Test
    void unansweredCommitThatRemovedTheMessageIsDone() {
        ending(End.UNKNOWN);
        AtomicInteger asked = new AtomicInteger();
        store.isGone = claim -> {
            if (asked.incrementAndGet() < 3) {
                throw FakeStore.unavailable();
            }
            return true;
        };

        Held held = carry(courier(1, handled()), 1).get(0);

        assertThat(asked).as("until there was an answer").hasValue(3);
        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Handled.class);
    }

    @Test
    void unansweredCommitThatLeftTheMessageIsUndone() {
        ending(End.UNKNOWN);
        store.isGone = claim -> false;

        Held held = carry(courier(1, handled()), 1).get(0);

        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void messageWhoseLeaseIsLostBeforeItsTurnIsNotHandled() {
        HandlingCourier courier = courier(1, handled());
        Held held = hold();
        courier.carry(held);
        held.tenure().lose();

        work();

        assertThat(store.runs).isEmpty();
        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void nothingIsBegunAfterTheClose() {
        HandlingCourier courier = courier(1, handled());
        Held held = hold();
        courier.carry(held);
        courier.close();

        work();

        assertThat(store.runs).isEmpty();
        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void messageFailsWhenThereIsNoThreadForIt() {
        HandlingCourier courier = courier(1, handled(), task -> {
            throw new RejectedExecutionException("full");
        });
        Held held = hold();

        courier.carry(held);

        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Retry.class);
    }

    /** A statement that hangs ends with its connection, at the same time as the handler's timeout: that is no failure of the database. */
    @Test
    void handlerWhoseConnectionIsGivenUpAfterItsTimeoutHasFailed() {
        ending(End.UNKNOWN);
        store.isGone = claim -> false;

        Held held = carry(
                        courier(1, (message, work) -> {
                            time.pass(TIMEOUT);
                            throw new IllegalStateException("no answer from the server");
                        }),
                        1)
                .get(0);

        assertThat(outcomes.get(held)).isInstanceOf(Outcome.Retry.class);
    }

    /** As when no native thread can be created; an OutOfMemoryError would end the run of the tests. */
    @Test
    void errorAtTheStartOfAThreadCostsNoAttemptAndNoThread() {
        AtomicInteger errors = new AtomicInteger(20);
        HandlingCourier courier = courier(1, handled(), task -> {
            if (errors.getAndDecrement() > 0) {
                throw new InternalError("unable to create native thread");
            }
            threads.add(task);
        });

        for (int i = 0; i < 20; i++) {
            Held held = hold();
            courier.carry(held);
            assertThat(outcomes.get(held)).isEqualTo(new Outcome.Released(held.claim()));
        }
        outcomes.clear();

        List<Held> held = carry(courier, 9);
        assertThat(held).allSatisfy(each -> assertThat(outcomes.get(each)).isInstanceOf(Outcome.Handled.class));
    }

    @Test
    void noMoreThreadsAreTakenThanTheTopicAllows() {
        HandlingCourier courier = courier(1, handled());
        for (int i = 0; i < 9; i++) {
            courier.carry(hold());
        }

        assertThat(threads).hasSize(4);
        work();
        assertThat(outcomes).hasSize(9);
    }

    @Test
    void handlerThatTakesTooLongIsInterruptedAndHasFailed() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        HandlingCourier courier = courier(1, (message, work) -> {
            inside.countDown();
            never.await();
        });
        Held held = hold();
        courier.carry(held);
        Thread thread = new Thread(this::work);
        thread.start();
        assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(held.isOverdue(time)).isFalse();
        time.pass(TIMEOUT.plusMillis(1));
        assertThat(held.isOverdue(time)).isTrue();

        courier.giveUp(held);

        thread.join(20_000);
        assertThat(outcomes.get(held))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class, retry -> assertThat(retry.error()).contains("no answer within"));
        assertThat(store.abandoned).as("it minded").isEmpty();
    }

    @Test
    void handlerThatDoesNotMindIsGivenUpWithItsTransaction() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        HandlingCourier courier = courier(2, (message, work) -> {
            inside.countDown();
            boolean ended = false;
            while (!ended) {
                try {
                    ended = end.await(20, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    // the handler that this test is about
                }
            }
        });
        Held stubborn = hold();
        Held other = hold();
        courier.carry(stubborn);
        courier.carry(other);
        Thread thread = new Thread(this::work);
        thread.start();
        assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
        time.pass(TIMEOUT.plusMillis(1));
        courier.giveUp(stubborn);
        assertThat(outcomes).isEmpty();
        time.pass(Duration.ofSeconds(2));
        assertThat(stubborn.isOverdue(time)).isTrue();

        courier.giveUp(stubborn);

        assertThat(store.abandoned).hasSize(1);
        assertThat(store.endedSessions).as("left to another thread").isEmpty();
        threads.removeLast().run();
        assertThat(store.endedSessions).isEqualTo(store.abandoned);
        assertThat(outcomes.get(stubborn)).isInstanceOf(Outcome.Retry.class);
        assertThat(outcomes.get(other)).isInstanceOf(Outcome.Released.class);
        end.countDown();
        thread.join(20_000);
        assertThat(outcomes).as("what it says later is passed over").hasSize(2);
    }

    private MessageHandler handled() {
        return (message, work) -> handled.add(message);
    }

    private static MessageHandler thrown(RuntimeException failure) {
        return (message, work) -> {
            throw failure;
        };
    }

    private void ending(End end) {
        store.ending = (ended, together) -> new Handled(ended.claim(), end, new IllegalStateException("as scripted"));
    }

    private HandlingCourier courier(int perTransaction, MessageHandler handler) {
        return courier(perTransaction, handler, threads::add);
    }

    private HandlingCourier courier(int perTransaction, MessageHandler handler, Executor executor) {
        Topic topic = Topic.named("orders")
                .process(handler)
                .handlersPerTransaction(perTransaction)
                .handlerTimeout(TIMEOUT)
                .retry(RetryPolicy.constant(Duration.ofSeconds(2)))
                .build();
        return new HandlingCourier(
                topic,
                new HandlingCourier.Means(store, HandOver.none(), executor, time),
                new Verdict(() -> 0.5),
                (held, outcome) -> {
                    if (held.decide()) {
                        outcomes.put(held, outcome);
                    }
                });
    }

    private Held hold() {
        Claim claim = claims.next("orders", 1);
        return new Held(Topic.named("orders").process(handled()).build(), claim, Tenure.Stamp.now(time));
    }

    /** Carries so many, and then lets the threads work. */
    private List<Held> carry(HandlingCourier courier, int count) {
        List<Held> held = Stream.generate(this::hold).limit(count).toList();
        held.forEach(courier::carry);
        work();
        return held;
    }

    private void work() {
        for (Runnable thread = threads.poll(); thread != null; thread = threads.poll()) {
            thread.run();
        }
    }
}
