package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.HandlingStore.End;
import dev.postrider.internal.store.HandlingStore.HandlingResult;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.PermanentFailureException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
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

final class HandlerDeliveryTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTime time = new ManualTime();
    private final FakeStore claims = new FakeStore();
    private final FakeHandling store = new FakeHandling();
    private final Map<InFlightMessage, Outcome> outcomes = new ConcurrentHashMap<>();
    private final List<Message> handled = new CopyOnWriteArrayList<>();
    private final Deque<Runnable> threads = new ArrayDeque<>();

    @Test
    void handledMessageNeedsNoFurtherStatement() {
        InFlightMessage claimed = deliver(delivery(1, handled()), 1).get(0);

        assertThat(outcomes.get(claimed)).isEqualTo(new Outcome.Handled(claimed.claim()));
        assertThat(handled).containsExactly(claimed.claim().message());
    }

    @Test
    void failedHandlerIsTriedAgainAndAPermanentFailureIsNot() {
        InFlightMessage failed = deliver(delivery(1, thrown(new IllegalStateException("boom"))), 1)
                .get(0);
        InFlightMessage rejected = deliver(delivery(1, thrown(new PermanentFailureException("never"))), 1)
                .get(0);

        assertThat(outcomes.get(failed))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class, retry -> assertThat(retry.error()).contains("boom"));
        assertThat(outcomes.get(rejected)).isInstanceOf(Outcome.Buried.class);
    }

    @Test
    void messageThatWentToAnotherWorkerHasNotFailed() {
        ending(End.LOST);

        InFlightMessage claimed = deliver(delivery(1, handled()), 1).get(0);

        assertThat(outcomes.get(claimed)).isEqualTo(new Outcome.Lost(claimed.claim()));
    }

    /** Often only for the moment that another node's claim takes to look at it. */
    @Test
    void messageLockedByAnotherSessionIsTriedAFewTimesAndThenReleased() {
        AtomicInteger tries = new AtomicInteger();
        store.ending = (ended, together) ->
                tries.incrementAndGet() < 3 ? new HandlingResult(ended.claim(), End.LOCKED, null) : ended;
        InFlightMessage forAMoment = deliver(delivery(1, handled()), 1).get(0);
        assertThat(outcomes.get(forAMoment)).isInstanceOf(Outcome.Handled.class);

        ending(End.LOCKED);
        store.runs.clear();
        InFlightMessage forLong = deliver(delivery(1, handled()), 1).get(0);
        assertThat(outcomes.get(forLong)).isEqualTo(new Outcome.Released(forLong.claim()));
        assertThat(store.runs).hasSize(4);
    }

    @Test
    void failureOfTheDatabaseCostsNoAttempt() {
        ending(End.UNDONE);

        InFlightMessage claimed = deliver(delivery(1, handled()), 1).get(0);

        assertThat(outcomes.get(claimed)).isEqualTo(new Outcome.Released(claimed.claim()));
    }

    /** The database may have failed once. A handler that makes the server end its session would be run for ever. */
    @Test
    void handlerThatLosesItsConnectionAgainHasFailed() {
        ending(End.DISCONNECTED);
        HandlerDelivery delivery = delivery(1, handled());
        InFlightMessage claimed = deliver(delivery, 1).get(0);
        assertThat(outcomes.remove(claimed)).isEqualTo(new Outcome.Released(claimed.claim()));

        InFlightMessage again = new InFlightMessage(claimed.topic(), claimed.claim(), LeaseValidity.Stamp.now(time));
        delivery.deliver(again);
        work();

        assertThat(outcomes.get(again)).isInstanceOf(Outcome.Retry.class);
    }

    @Test
    void severalShareATransactionAndEachIsHandledOnItsOwnWhenItFails() {
        store.ending = (ended, together) -> together > 1
                ? new HandlingResult(ended.claim(), End.UNDONE, new IllegalStateException("deadlock"))
                : ended;

        List<InFlightMessage> claimed = deliver(delivery(10, handled()), 3);

        assertThat(store.runs).extracting(List::size).containsExactly(3, 1, 1, 1);
        assertThat(claimed).allSatisfy(each -> assertThat(outcomes.get(each)).isInstanceOf(Outcome.Handled.class));
    }

    @Test
    void noMoreThanAllowedShareATransaction() {
        deliver(delivery(2, handled()), 5);

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

        InFlightMessage claimed = deliver(delivery(1, handled()), 1).get(0);

        assertThat(asked).as("until there was an answer").hasValue(3);
        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Handled.class);
    }

    @Test
    void unansweredCommitThatLeftTheMessageIsUndone() {
        ending(End.UNKNOWN);
        store.isGone = claim -> false;

        InFlightMessage claimed = deliver(delivery(1, handled()), 1).get(0);

        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void messageWhoseLeaseIsLostBeforeItsTurnIsNotHandled() {
        HandlerDelivery delivery = delivery(1, handled());
        InFlightMessage claimed = hold();
        delivery.deliver(claimed);
        claimed.validity().lose();

        work();

        assertThat(store.runs).isEmpty();
        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void nothingIsBegunAfterTheClose() {
        HandlerDelivery delivery = delivery(1, handled());
        InFlightMessage claimed = hold();
        delivery.deliver(claimed);
        delivery.close();

        work();

        assertThat(store.runs).isEmpty();
        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Released.class);
    }

    @Test
    void drainReleasesWhatWaitsForAThreadAndLetsTheHandlerEnd() {
        List<HandlerDelivery> itself = new ArrayList<>();
        HandlerDelivery delivery = delivery(1, (message, work) -> itself.forEach(HandlerDelivery::drain));
        itself.add(delivery);

        List<InFlightMessage> claimed = deliver(delivery, 6);

        assertThat(outcomes.get(claimed.get(0))).isInstanceOf(Outcome.Handled.class);
        assertThat(claimed.subList(1, 6))
                .allSatisfy(each -> assertThat(outcomes.get(each)).isEqualTo(new Outcome.Released(each.claim())));
        assertThat(store.runs).hasSize(1);
        InFlightMessage late = hold();
        delivery.deliver(late);
        work();
        assertThat(outcomes.get(late)).isInstanceOf(Outcome.Released.class);
        assertThat(store.runs).hasSize(1);
    }

    @Test
    void messageThatIsLockedIsNotTriedAgainDuringTheDrain() {
        List<HandlerDelivery> itself = new ArrayList<>();
        HandlerDelivery delivery = delivery(1, (message, work) -> itself.forEach(HandlerDelivery::drain));
        itself.add(delivery);
        ending(End.LOCKED);

        InFlightMessage claimed = deliver(delivery, 1).get(0);

        assertThat(outcomes.get(claimed)).isEqualTo(new Outcome.Released(claimed.claim()));
        assertThat(store.runs).hasSize(1);
    }

    @Test
    void messageFailsWhenThereIsNoThreadForIt() {
        HandlerDelivery delivery = delivery(1, handled(), task -> {
            throw new RejectedExecutionException("full");
        });
        InFlightMessage claimed = hold();

        delivery.deliver(claimed);

        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Retry.class);
    }

    /** A statement that hangs ends with its connection, at the same time as the handler's timeout: that is no failure of the database. */
    @Test
    void handlerWhoseConnectionIsGivenUpAfterItsTimeoutHasFailed() {
        ending(End.UNKNOWN);
        store.isGone = claim -> false;

        InFlightMessage claimed = deliver(
                        delivery(1, (message, work) -> {
                            time.pass(TIMEOUT);
                            throw new IllegalStateException("no answer from the server");
                        }),
                        1)
                .get(0);

        assertThat(outcomes.get(claimed)).isInstanceOf(Outcome.Retry.class);
    }

    /** As when no native thread can be created; an OutOfMemoryError would end the run of the tests. */
    @Test
    void errorAtTheStartOfAThreadCostsNoAttemptAndNoThread() {
        AtomicInteger errors = new AtomicInteger(20);
        HandlerDelivery delivery = delivery(1, handled(), task -> {
            if (errors.getAndDecrement() > 0) {
                throw new InternalError("unable to create native thread");
            }
            threads.add(task);
        });

        for (int i = 0; i < 20; i++) {
            InFlightMessage claimed = hold();
            delivery.deliver(claimed);
            assertThat(outcomes.get(claimed)).isEqualTo(new Outcome.Released(claimed.claim()));
        }
        outcomes.clear();

        List<InFlightMessage> claimed = deliver(delivery, 9);
        assertThat(claimed).allSatisfy(each -> assertThat(outcomes.get(each)).isInstanceOf(Outcome.Handled.class));
    }

    @Test
    void noMoreThreadsAreTakenThanTheTopicAllows() {
        HandlerDelivery delivery = delivery(1, handled());
        for (int i = 0; i < 9; i++) {
            delivery.deliver(hold());
        }

        assertThat(threads).hasSize(4);
        work();
        assertThat(outcomes).hasSize(9);
    }

    @Test
    void handlerThatTakesTooLongIsInterruptedAndHasFailed() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        HandlerDelivery delivery = delivery(1, (message, work) -> {
            inside.countDown();
            never.await();
        });
        InFlightMessage claimed = hold();
        delivery.deliver(claimed);
        Thread thread = new Thread(this::work);
        thread.start();
        assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(claimed.isOverdue(time)).isFalse();
        time.pass(TIMEOUT.plusMillis(1));
        assertThat(claimed.isOverdue(time)).isTrue();

        delivery.giveUp(claimed);

        thread.join(20_000);
        assertThat(outcomes.get(claimed))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class, retry -> assertThat(retry.error()).contains("no answer within"));
        assertThat(store.abandoned).as("it minded").isEmpty();
    }

    @Test
    void handlerThatDoesNotMindIsGivenUpWithItsTransaction() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        HandlerDelivery delivery = delivery(2, (message, work) -> {
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
        InFlightMessage stubborn = hold();
        InFlightMessage other = hold();
        delivery.deliver(stubborn);
        delivery.deliver(other);
        Thread thread = new Thread(this::work);
        thread.start();
        assertThat(inside.await(20, TimeUnit.SECONDS)).isTrue();
        time.pass(TIMEOUT.plusMillis(1));
        delivery.giveUp(stubborn);
        assertThat(outcomes).isEmpty();
        time.pass(Duration.ofSeconds(2));
        assertThat(stubborn.isOverdue(time)).isTrue();

        delivery.giveUp(stubborn);

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
        store.ending =
                (ended, together) -> new HandlingResult(ended.claim(), end, new IllegalStateException("as scripted"));
    }

    private HandlerDelivery delivery(int perTransaction, MessageHandler handler) {
        return delivery(perTransaction, handler, threads::add);
    }

    private HandlerDelivery delivery(int perTransaction, MessageHandler handler, Executor executor) {
        Topic topic = Topic.named("orders")
                .process(handler)
                .handlersPerTransaction(perTransaction)
                .handlerTimeout(TIMEOUT)
                .retry(RetryPolicy.constant(Duration.ofSeconds(2)))
                .build();
        return new HandlerDelivery(
                topic,
                new TopicDestination.Processing(handler),
                new HandlerDelivery.HandlerResources(
                        store,
                        HandOver.none(),
                        new HandlerDelivery.HandlerThreads(executor, executor),
                        SafeTracing.NONE,
                        time),
                new OutcomeDecider(() -> 0.5),
                (claimed, outcome) -> {
                    if (claimed.decide()) {
                        outcomes.put(claimed, outcome);
                    }
                });
    }

    private InFlightMessage hold() {
        Claim claim = claims.next("orders", 1);
        return new InFlightMessage(
                Topic.named("orders").process(handled()).build(), claim, LeaseValidity.Stamp.now(time));
    }

    /** Carries so many, and then lets the threads work. */
    private List<InFlightMessage> deliver(HandlerDelivery delivery, int count) {
        List<InFlightMessage> claimed = Stream.generate(this::hold).limit(count).toList();
        claimed.forEach(delivery::deliver);
        work();
        return claimed;
    }

    private void work() {
        for (Runnable thread = threads.poll(); thread != null; thread = threads.poll()) {
            thread.run();
        }
    }
}
