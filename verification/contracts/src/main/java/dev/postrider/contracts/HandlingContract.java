package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.dispatch.Topic;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.internal.store.HandlingStore.End;
import dev.postrider.internal.store.HandlingStore.HandlingResult;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import dev.postrider.store.TableOptions;
import dev.postrider.transport.PermanentFailureException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of handlers in the database: a handler runs in the transaction that removes its message, so its effect is committed once
 * or not at all.
 */
public abstract class HandlingContract extends LaneFixture {

    private static final RetryPolicy AT_ONCE = RetryPolicy.constant(Duration.ZERO);
    private static final RetryPolicy IN_AN_HOUR = RetryPolicy.constant(Duration.ofHours(1));
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    /** A handler timeout that is long enough to connect, to call the handler, and to write. */
    private static final Duration LONG_ENOUGH_TO_BEGIN = Duration.ofSeconds(2);

    private final List<Integer> tried = new CopyOnWriteArrayList<>();

    @BeforeEach
    void tables() throws SQLException {
        execute("CREATE TABLE IF NOT EXISTS handled_effect (topic VARCHAR(100) NOT NULL, n INTEGER NOT NULL)");
        postrider(builder -> builder.topic(answers()));
    }

    // One message, one transaction

    @Test
    void whatAHandlerWritesAndSendsCommitsWithTheRemoval() throws Exception {
        Postrider node = node(topic -> topic.process((message, work) -> {
            effect(message, work);
            work.stage(Message.to(answers()).type("answer").json("{}").build());
        }));
        Message message =
                message().json("{\"n\":7}").correlationId("conversation").build();
        enqueue(node, message);

        node.start();

        eventually("it is handled", () -> live() == 0);
        assertThat(effects()).containsExactly("7");
        assertThat(archived()).isEqualTo(1);
        assertThat(query("SELECT attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("1");
        assertThat(attributes("causationId", answers()))
                .containsExactly(message.id().toString());
        assertThat(attributes("correlationId", answers())).containsExactly("conversation");
        eventually("it is reported", () -> events.stream().anyMatch(Event.Delivered.class::isInstance));
    }

    @Test
    void failedHandlerLeavesNothingBehindAndItsAttemptIsCounted() throws Exception {
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR).process((message, work) -> {
            effect(message, work);
            work.stage(Message.to(answers()).type("answer").json("{}").build());
            throw new IllegalStateException("not today");
        }));
        enqueue(node, 1);

        node.start();

        eventually("the failure is written", () -> column("last_error").contains("not today"));
        assertThat(column("state")).isEqualTo("PENDING");
        assertThat(column("attempts")).isEqualTo("1");
        assertThat(effects()).isEmpty();
        assertThat(answered()).isZero();
        eventually("it is reported", () -> events.stream().anyMatch(Event.Failed.class::isInstance));
        assertThat(events)
                .filteredOn(Event.Failed.class::isInstance)
                .singleElement()
                .satisfies(event -> assertThat(((Event.Failed) event).cause())
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("not today"));
    }

    @Test
    void handlerThatFailsTwiceTakesEffectOnce() throws Exception {
        Postrider node = node(topic -> topic.retry(AT_ONCE).process((message, work) -> {
            effect(message, work);
            tried.add(1);
            if (tried.size() < 3) {
                throw new SQLException("constraint", "23505");
            }
        }));
        enqueue(node, 1);

        node.start();

        eventually("it is handled", () -> live() == 0);
        assertThat(effects()).hasSize(1);
        assertThat(query("SELECT attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("3");
    }

    @Test
    void permanentFailureIsADeadLetterAtOnce() throws Exception {
        Postrider node = node(topic -> topic.process((message, work) -> {
            effect(message, work);
            throw new PermanentFailureException("never");
        }));
        enqueue(node, 1);

        node.start();

        eventually("it is buried", () -> column("state").equals("DEAD"));
        assertThat(column("reason")).isEqualTo("REJECTED");
        assertThat(effects()).isEmpty();
    }

    @Test
    void manyMessagesAreHandledOnceByTwoNodes() throws Exception {
        needsConcurrency();
        Postrider first = node(topic -> topic.process(this::effect));
        Postrider second = node(topic -> topic.handlersPerTransaction(10).process(this::effect));
        enqueue(first, 300);

        first.start();
        second.start();

        eventually("all are handled", () -> live() == 0);
        assertThat(effects()).hasSize(300).doesNotHaveDuplicates();
    }

    @Test
    void messageThatWasStagedHereIsHandledWithoutAClaim() throws Exception {
        Postrider node = node(topic -> topic.process(this::effect));
        node.start();

        node.inTransaction(work -> work.stage(message().json("{\"n\":3}").build()));

        eventually("it is handled", () -> live() == 0);
        assertThat(effects()).containsExactly("3");
        assertThat(events).noneMatch(Event.Fetched.class::isInstance);
        assertThat(query("SELECT attempts FROM postrider_archive WHERE topic = '" + topic + "'"))
                .isEqualTo("1");
    }

    @Test
    void dueMessagesAreHandledInTheCallersThread() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        Postrider node = node(topic -> topic.process((message, work) -> {
            threads.add(Thread.currentThread());
            effect(message, work);
        }));
        enqueue(node, 5);

        assertThat(node.deliverDue()).isEqualTo(5);

        assertThat(effects()).hasSize(5);
        assertThat(threads).containsOnly(Thread.currentThread());
    }

    @Test
    void noMoreTransactionsRunAtOnceThanThereAreThreads() throws Exception {
        needsConcurrency();
        CyclicBarrier both = new CyclicBarrier(2);
        List<Integer> atOnce = new CopyOnWriteArrayList<>();
        AtomicInteger running = new AtomicInteger();
        Postrider node = node(topic -> topic.handlerThreads(2).process((message, work) -> {
            atOnce.add(running.incrementAndGet());
            both.await(SOON.toSeconds(), TimeUnit.SECONDS);
            effect(message, work);
            running.decrementAndGet();
        }));
        enqueue(node, 20);

        node.start();

        eventually("all are handled", () -> live() == 0);
        assertThat(effects()).hasSize(20);
        assertThat(atOnce).contains(2).allMatch(count -> count <= 2);
    }

    // Several in one transaction

    @Test
    void oneFailureOfSeveralDoesNotAffectTheOthers() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 6);
        List<Claim> claims = claim(postrider);

        List<HandlingResult> handled = handle(items(claims), (claim, message, work) -> {
            effect(claim.message(), work);
            work.stage(Message.to(answers()).type("answer").json("{}").build());
            if (number(claim.message()) == 3) {
                execute(work.connection(), "INSERT INTO handled_effect (topic, n) VALUES (NULL, 0)");
            }
        });

        assertThat(handled).extracting(HandlingResult::end).containsOnly(End.DONE, End.FAILED);
        assertThat(handled.get(3).end()).isEqualTo(End.FAILED);
        assertThat(effects()).containsExactlyInAnyOrder("0", "1", "2", "4", "5");
        assertThat(answered()).isEqualTo(5);
        assertThat(live()).isEqualTo(1);
        assertThat(archived()).isEqualTo(5);
        assertThat(column("state")).as("its claim still has the lease").isEqualTo("PROCESSING");
    }

    /** Whether its own message is still live depends on the database and on the other messages of the transaction. */
    @Test
    void handlerCannotSendAMessageWithTheIdOfItsOwn() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        List<Claim> claims = claim(postrider);
        for (List<Claim> together : List.of(claims.subList(0, 1), claims)) {
            for (HandlingStore.Handler sending : List.<HandlingStore.Handler>of(
                    (claim, message, work) -> work.stage(message),
                    (claim, message, work) -> work.outbox().enqueue(message))) {
                assertThat(handle(items(together), sending))
                        .hasSameSizeAs(together)
                        .allSatisfy(handled -> {
                            assertThat(handled.end()).isEqualTo(End.FAILED);
                            assertThat(handled.failure())
                                    .isInstanceOf(InvalidMessageException.class)
                                    .hasMessageContaining("being handled");
                        });
            }
        }
        assertThat(live()).isEqualTo(3);
    }

    @Test
    void whatWentToAnotherWorkerIsNotHandledAndTheOthersAre() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        List<Claim> claims = claim(postrider);
        rob(claims.get(1));

        List<HandlingResult> handled = handle(items(claims), (claim, message, work) -> effect(claim.message(), work));

        assertThat(handled).extracting(HandlingResult::end).containsExactly(End.DONE, End.LOST, End.DONE);
        assertThat(effects()).containsExactlyInAnyOrder("0", "2");
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void conflictUndoesAllOfThemAndEachIsToBeHandledOnItsOwn() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 3);

        List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
            effect(claim.message(), work);
            if (number(claim.message()) == 1) {
                throw new IllegalStateException("wrapped", new SQLException("deadlock", "40001"));
            }
        });

        assertThat(handled).extracting(HandlingResult::end).containsOnly(End.UNDONE);
        assertThat(effects()).isEmpty();
        assertThat(live()).isEqualTo(3);
        assertThat(archived()).isZero();
    }

    @Test
    void nodeHandlesEachOnItsOwnWhenTheirTransactionFails() throws Exception {
        CountDownLatch allWait = new CountDownLatch(1);
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR)
                .handlerThreads(1)
                .handlersPerTransaction(10)
                .process((message, work) -> {
                    allWait.await(SOON.toSeconds(), TimeUnit.SECONDS);
                    effect(message, work);
                    tried.add(number(message));
                    if (number(message) == 2 && tried.size() < 5) {
                        throw new SQLException("deadlock", "40001");
                    }
                }));
        enqueue(node, 4);
        node.start();

        eventually(
                "all are claimed",
                () -> query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + topic
                                + "' AND state = 'PROCESSING'")
                        .equals("4"));
        allWait.countDown();

        eventually("all but one are handled", () -> live() <= 1);
        eventually(
                "the others have no lease",
                () -> query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + topic
                                + "' AND state = 'PROCESSING'")
                        .equals("0"));
        assertThat(effects()).doesNotHaveDuplicates().contains("0", "1", "3");
    }

    /** The rollback also undoes the effects of the other messages, which must not be removed without their effects. */
    @Test
    void handlerThatRollsBackByItsOwnStatementUndoesTheWholeTransaction() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 3);
        String hidden = hidden("ROLLBACK");

        List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
            if (number(claim.message()) == 1) {
                swallow(work.connection(), hidden);
            }
            effect(claim.message(), work);
        });

        assertThat(handled).extracting(HandlingResult::end).containsExactly(End.UNKNOWN, End.FAILED, End.UNDONE);
        assertThat(effects()).isEmpty();
        assertThat(live()).isEqualTo(3);
    }

    /** The early commit removes the message of the first handler with its effect. The last one is handled in a transaction of its own. */
    @Test
    void handlerThatCommitsByItsOwnStatementRepeatsNoEffectOfItsNeighbours() throws Exception {
        String hidden = hidden("COMMIT");
        CountDownLatch allWait = new CountDownLatch(1);
        Postrider node = node(topic -> topic.retry(AT_ONCE)
                .handlerThreads(1)
                .handlersPerTransaction(10)
                .process((message, work) -> {
                    allWait.await(SOON.toSeconds(), TimeUnit.SECONDS);
                    effect(message, work);
                    tried.add(number(message));
                    if (number(message) == 1) {
                        execute(work.connection(), hidden);
                    }
                }));
        enqueue(node, 3);
        node.start();
        eventually(
                "all are claimed",
                () -> query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + topic
                                + "' AND state = 'PROCESSING'")
                        .equals("3"));
        allWait.countDown();

        eventually(
                "one is dead, and the others are handled",
                () -> live() == 1 && column("state").equals("DEAD"));
        assertThat(column("last_error")).contains("may be committed");
        assertThat(effects()).containsOnlyOnce("0", "1", "2");
        assertThat(tried).as("no other attempt of the culprit").containsOnlyOnce(1);
    }

    /** An attempt may have committed a part. Another attempt would repeat it. */
    @Test
    void handlerThatEndsItsTransactionIsNotTriedAgain() throws Exception {
        String hidden = hidden("COMMIT");
        Postrider node = node(topic -> topic.retry(AT_ONCE).process((message, work) -> {
            effect(message, work);
            execute(work.connection(), hidden);
        }));
        enqueue(node, 2);

        node.start();

        eventually(
                "both are dead",
                () -> query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + topic + "' AND state = 'DEAD'")
                        .equals("2"));
        assertThat(column("last_error")).contains("may be committed");
        assertThat(effects()).containsOnlyOnce("0", "1");
    }

    /** A text that could end the transaction, and does not. */
    @Test
    void handlerWithAnUnclearStatementIsDoneOnce() throws Exception {
        Postrider postrider = postrider();
        for (int messages : List.of(1, 3)) {
            enqueue(postrider, messages);

            List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
                effect(claim.message(), work);
                execute(work.connection(), harmless());
            });

            assertThat(handled)
                    .extracting(HandlingResult::end)
                    .containsOnly(End.DONE)
                    .hasSize(messages);
        }
        assertThat(live()).isZero();
        assertThat(effects()).hasSize(4);
        assertThat(archived()).isEqualTo(4);
    }

    private String harmless() throws SQLException {
        return product().equals("PostgreSQL") ? "DO $$ BEGIN PERFORM 1; END $$" : "SET @harmless = 1";
    }

    private static void swallow(Connection connection, String sql) {
        try {
            execute(connection, sql);
        } catch (SQLException | RuntimeException e) {
            assertThat(e).isInstanceOf(UnusableConnectionException.class);
        }
    }

    /** An end of the transaction that the guard cannot see in the text. */
    private String hidden(String end) throws SQLException {
        switch (product()) {
            case "PostgreSQL" -> {
                return "SELECT 'a\\'; " + end;
            }
            case "H2" -> {
                return "SELECT ';'; " + end;
            }
            default -> {
                execute("DROP PROCEDURE IF EXISTS end_it_" + end);
                execute("CREATE PROCEDURE end_it_" + end + "() " + end);
                return "CALL end_it_" + end + "()";
            }
        }
    }

    /** The procedure commits a part of the work. The message must not be removed with that part. */
    @Test
    void handlerThatEndsItsTransactionByAProcedureLosesNoMessage() throws Exception {
        String hidden = hidden("COMMIT");
        for (boolean fails : List.of(true, false)) {
            Postrider postrider = postrider();
            enqueue(postrider, 1);

            List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
                swallow(work.connection(), hidden);
                if (fails) {
                    throw new IllegalStateException("failed");
                }
            });

            assertThat(handled).extracting(HandlingResult::end).containsExactly(End.FAILED);
        }
        assertThat(live()).isEqualTo(2);
    }

    @Test
    void handlerCannotEndItsTransaction() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
            effect(claim.message(), work);
            work.connection().commit();
        });

        assertThat(handled).extracting(HandlingResult::end).containsExactly(End.FAILED);
        assertThat(handled.get(0).failure()).isInstanceOf(UnusableConnectionException.class);
        assertThat(effects()).isEmpty();
        assertThat(live()).isEqualTo(1);
    }

    @Test
    void deferredFailureAtTheCommitIsAFailureOfTheHandler() throws Exception {
        needs(product().equals("PostgreSQL"), "only PostgreSQL checks at the commit");
        execute("CREATE TABLE IF NOT EXISTS handled_late (n INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        Postrider postrider = postrider();
        enqueue(postrider, 1);

        List<HandlingResult> handled = handle(items(claim(postrider)), (claim, message, work) -> {
            effect(claim.message(), work);
            execute(work.connection(), "INSERT INTO handled_late VALUES (1), (1)");
        });

        assertThat(handled).extracting(HandlingResult::end).containsExactly(End.FAILED);
        assertThat(effects()).isEmpty();
        assertThat(live()).isEqualTo(1);
    }

    // Handlers that lost their lease

    @Test
    void messageThatWentToAnotherWorkerIsNotHandled() throws Exception {
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);
        rob(claim);

        List<HandlingResult> handled =
                handle(items(List.of(claim)), (taken, message, work) -> effect(taken.message(), work));

        assertThat(handled).extracting(HandlingResult::end).containsExactly(End.LOST);
        assertThat(effects()).isEmpty();
        assertThat(postrider.store().settle(List.of(new Outcome.Lost(claim))))
                .containsExactly(new Settlement.LeaseLost(claim, false));
    }

    @Test
    void messageThatIsBeingHandledIsNotTakenOverWhenItsLeaseEnds() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim =
                postrider.store().claim(request().lease(Duration.ofMillis(100))).get(0);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<List<HandlingResult>> slow =
                CompletableFuture.supplyAsync(() -> handle(items(List.of(claim)), paused(inside, go)));
        assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        eventually(
                "the lease is over",
                () -> postrider
                        .store()
                        .nextDue(List.of(TopicName.of(topic)))
                        .equals(Map.of(TopicName.of(topic), Duration.ZERO)));

        assertThat(claim(postrider)).as("its row is locked").isEmpty();

        go.countDown();
        assertThat(slow.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .extracting(HandlingResult::end)
                .containsExactly(End.DONE);
        assertThat(effects()).hasSize(1);
        assertThat(live()).isZero();
    }

    @Test
    void whatAHandlerWroteIsGoneWhenItIsGivenUp() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        enqueue(postrider, 1);
        Claim claim = claim(postrider).get(0);
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        HandlingStore.Transaction zombie = transaction(items(List.of(claim)), paused(inside, go));
        CompletableFuture<List<HandlingResult>> slow = CompletableFuture.supplyAsync(zombie::run);
        assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

        zombie.abandon();
        List<HandlingResult> second =
                handleWhenFree(items(List.of(claim)), (taken, message, work) -> effect(taken.message(), work));

        assertThat(second).extracting(HandlingResult::end).containsExactly(End.DONE);
        go.countDown();
        assertThat(slow.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .extracting(HandlingResult::end)
                .containsExactly(End.UNDONE);
        assertThat(effects()).hasSize(1);
    }

    @Test
    void newOwnerOfALaneSkipsTheMessageThatAHandlerOfTheOldOwnerHasLockedAndHandlesTheNext() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        write(postrider, "k", 1, 2);
        Holder old = holder();
        List<LaneClaim> read = old.read();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<List<HandlingResult>> slow =
                CompletableFuture.supplyAsync(() -> handle(List.of(item(read.get(0))), paused(inside, go)));
        assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

        Holder current = robLane();
        List<LaneClaim> again = current.read();
        assertThat(numbers(again)).containsExactly(1, 2);
        assertThat(handle(List.of(item(again.get(0))), (claim, message, work) -> effect(claim.message(), work)))
                .extracting(HandlingResult::end)
                .containsExactly(End.LOCKED);
        go.countDown();

        assertThat(slow.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .extracting(HandlingResult::end)
                .containsExactly(End.DONE);
        assertThat(handle(List.of(item(again.get(0))), (claim, message, work) -> effect(claim.message(), work)))
                .extracting(HandlingResult::end)
                .containsExactly(End.LOST);
        assertThat(current.settle(new Outcome.Lost(again.get(0).claim()))).containsExactly(gone(again.get(0)));
        assertThat(old.settle(new Outcome.Handled(read.get(0).claim())))
                .containsExactly(new Settlement.Settled(read.get(0).claim()));
        assertThat(handle(List.of(item(again.get(1))), (claim, message, work) -> effect(claim.message(), work)))
                .extracting(HandlingResult::end)
                .containsExactly(End.DONE);
        assertThat(effects()).containsExactlyInAnyOrder("1", "2");
        assertThat(live()).isZero();
    }

    @Test
    void handlerOfAnOldOwnerThatLostItsConnectionLeavesNothingBehind() throws Exception {
        needsConcurrency();
        Postrider postrider = ordered();
        write(postrider, "k", 1);
        List<LaneClaim> read = holder().read();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        HandlingStore.Transaction zombie = transaction(List.of(item(read.get(0))), paused(inside, go));
        CompletableFuture<List<HandlingResult>> slow = CompletableFuture.supplyAsync(zombie::run);
        assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        Holder current = robLane();
        List<LaneClaim> again = current.read();
        zombie.abandon();

        List<HandlingResult> second =
                handleWhenFree(List.of(item(again.get(0))), (claim, message, work) -> effect(claim.message(), work));

        assertThat(second).extracting(HandlingResult::end).containsExactly(End.DONE);
        go.countDown();
        assertThat(slow.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .extracting(HandlingResult::end)
                .containsExactly(End.UNDONE);
        assertThat(effects()).containsExactly("1");
    }

    @Test
    void messageOfALaneThatFailedElsewhereMeanwhileIsNotHandled() throws Exception {
        Postrider postrider = ordered();
        write(postrider, "k", 1);
        List<LaneClaim> read = holder().read();
        Holder current = robLane();
        LaneClaim again = current.read().get(0);
        current.settle(retry(again));

        assertThat(handle(List.of(item(read.get(0))), (claim, message, work) -> effect(claim.message(), work)))
                .extracting(HandlingResult::end)
                .containsExactly(End.LOST);

        assertThat(effects()).isEmpty();
        assertThat(states()).containsExactly("RETRY");
    }

    @Test
    void keyGoesOnAfterItsHeadWasHandled() throws Exception {
        Postrider postrider = ordered();
        write(postrider, "k", 1, 2, 3);
        Holder holder = holder();
        List<LaneClaim> read = holder.read();
        holder.settle(retryAtOnce(read.get(0)), blocked(read.get(1)), blocked(read.get(2)));
        LaneClaim head = holder.timed().get(0);

        handle(List.of(item(head)), (claim, message, work) -> effect(claim.message(), work));
        assertThat(states()).as("before the outcome is written").containsExactly("BLOCKED", "BLOCKED");
        List<Settlement> settled = holder.settle(new Outcome.Handled(head.claim()));

        assertThat(keyBlocked(settled.get(0))).isTrue();
        assertThat(states()).containsExactly("RETRY", "BLOCKED");
    }

    /** Otherwise the node takes the key for free, and later messages overtake the one that was read or failed meanwhile. */
    @Test
    void keyOfAHandledHeadIsBlockedByAMessageWhoseOutcomeIsWrittenTogether() throws Exception {
        Postrider postrider = ordered();
        Holder holder = holder();
        for (Function<LaneClaim, LaneOutcome> blocking : List.<Function<LaneClaim, LaneOutcome>>of(
                LaneFixture::blocked, LaneFixture::retry, HandlingContract::parked)) {
            write(postrider, "k", 1);
            holder.settle(retryAtOnce(holder.read().get(0)));
            LaneClaim head = holder.timed().get(0);
            write(postrider, "k", 2);
            LaneClaim later = holder.read().get(0);
            handle(List.of(item(head)), (claim, message, work) -> effect(claim.message(), work));

            List<Settlement> settled = holder.settle(blocking.apply(later), new Outcome.Handled(head.claim()));

            assertThat(keyBlocked(settled.get(1))).as(states().toString()).isTrue();
            assertThat(states()).containsAnyOf("RETRY", "PARKED").hasSize(1);
            execute("DELETE FROM postrider_message WHERE topic = '" + topic + "'");
        }
    }

    private static LaneOutcome parked(LaneClaim claim) {
        return new LaneOutcome.Parked(claim.claim(), DeadReason.REJECTED, "no");
    }

    @Test
    void keyOfAHandledHeadIsBlockedAlsoWhenItsOutcomeIsSentAgain() throws Exception {
        Postrider postrider = ordered();
        write(postrider, "k", 1, 2);
        write(postrider, "l", 3, 4);
        FailingDataSource source = new FailingDataSource(dataSource());
        Holder holder = take(store(source), topic);
        List<LaneClaim> read = holder.read();
        holder.settle(retryAtOnce(read.get(0)), blocked(read.get(1)), retryAtOnce(read.get(2)), blocked(read.get(3)));
        List<LaneClaim> heads = holder.timed().stream()
                .filter(claim -> number(claim.claim().message()) % 2 == 1)
                .toList();
        handle(
                heads.stream().map(HandlingContract::item).toList(),
                (claim, message, work) -> effect(claim.message(), work));
        LaneOutcome[] outcomes =
                heads.stream().map(head -> new Outcome.Handled(head.claim())).toArray(LaneOutcome[]::new);
        source.failAfter(1);
        assertThatThrownBy(() -> holder.settle(outcomes)).isInstanceOf(StoreUnavailableException.class);
        source.failAfter(Integer.MAX_VALUE);

        List<Settlement> settled = holder.settle(outcomes);

        assertThat(settled).hasSize(2).allMatch(LaneFixture::keyBlocked);
        assertThat(states()).containsExactly("RETRY", "RETRY");
    }

    @Test
    void keyGoesOnWhenTheNodeThatHandledItsHeadIsLost() throws Exception {
        Postrider postrider = ordered();
        write(postrider, "k", 1, 2);
        Holder holder = holder();
        List<LaneClaim> read = holder.read();
        holder.settle(retryAtOnce(read.get(0)), blocked(read.get(1)));
        handle(List.of(item(holder.timed().get(0))), (claim, message, work) -> effect(claim.message(), work));

        Holder next = takeOver();

        assertThat(numbers(next.timed())).containsExactly(2);
        assertThat(effects()).containsExactly("1");
    }

    // Order, timeouts, stopping

    @Test
    void messagesOfAKeyAreHandledInOrderWhateverFails() throws Exception {
        List<String> log = new CopyOnWriteArrayList<>();
        AtomicInteger calls = new AtomicInteger();
        Postrider node = node(topic -> topic.lanes(4)
                .retry(AT_ONCE)
                .maxAttempts(1000)
                .handlersPerTransaction(3)
                .process((message, work) -> {
                    effect(message, work);
                    if (calls.incrementAndGet() % 4 == 0) {
                        throw new IllegalStateException("every fourth");
                    }
                    log.add(message.key() + number(message));
                }));
        for (int key = 0; key < 3; key++) {
            write(node, "k" + key, 1, 2, 3, 4, 5, 6, 7, 8, 9);
        }

        node.start();

        eventually("all are handled", () -> live() == 0);
        assertThat(effects()).hasSize(27);
        for (int key = 0; key < 3; key++) {
            String name = "k" + key;
            assertThat(log.stream().filter(entry -> entry.startsWith(name)).distinct())
                    .isSorted()
                    .hasSize(9);
        }
    }

    @Test
    void handlerThatTakesTooLongIsInterruptedAndHasFailed() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR)
                .handlerTimeout(LONG_ENOUGH_TO_BEGIN)
                .process((message, work) -> {
                    effect(message, work);
                    never.await();
                }));
        enqueue(node, 1);

        node.start();

        eventually("it has failed", () -> column("last_error").contains("no answer within"));
        assertThat(column("attempts")).isEqualTo("1");
        assertThat(effects()).isEmpty();
    }

    @Test
    void handlerThatDoesNotMindItsInterruptionLosesItsConnection() throws Exception {
        needsConcurrency();
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(1);
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR)
                .handlerTimeout(LONG_ENOUGH_TO_BEGIN)
                .process((message, work) -> {
                    effect(message, work);
                    awaitStubbornly(never);
                    ended.countDown();
                }));
        enqueue(node, 1);

        node.start();

        eventually("it has failed", () -> column("last_error").contains("no answer within"));
        assertThat(column("state")).isEqualTo("PENDING");
        never.countDown();
        assertThat(ended.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(effects()).isEmpty();
    }

    /** Otherwise the server would continue the statement after its client is gone, and keep the message locked. */
    @Test
    void handlerThatHangsInAStatementIsEndedAtTheServer() throws Exception {
        needsConcurrency();
        execute("CREATE TABLE IF NOT EXISTS handled_rival (topic VARCHAR(100) PRIMARY KEY, n INTEGER NOT NULL)");
        execute("INSERT INTO handled_rival (topic, n) VALUES ('" + topic + "', 0)");
        CountDownLatch inside = new CountDownLatch(1);
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR)
                .handlerTimeout(LONG_ENOUGH_TO_BEGIN)
                .process((message, work) -> {
                    effect(message, work);
                    inside.countDown();
                    execute(work.connection(), rivalled());
                }));
        enqueue(node, 1);

        try (Connection rival = transaction()) {
            execute(rival, rivalled());
            node.start();
            assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

            eventually("it has failed", () -> column("last_error").contains("no answer within"));
            assertThat(column("state")).isEqualTo("PENDING");
            rival.rollback();
        }
        assertThat(effects()).isEmpty();
    }

    /**
     * A handler can make the server close its session, for example by a statement that is too large. Such a handler must not run
     * forever.
     */
    @Test
    void handlerThatLosesItsConnectionEachTimeUsesUpItsAttempts() throws Exception {
        needsConcurrency();
        Postrider node = node(topic -> topic.maxAttempts(2).retry(AT_ONCE).process((message, work) -> {
            effect(message, work);
            tried.add(1);
            endSession(work.connection());
        }));
        enqueue(node, 1);

        node.start();

        eventually("it is dead", () -> column("state").equals("DEAD"));
        assertThat(tried)
                .as("one run without a counted attempt, and two attempts")
                .hasSize(3);
        assertThat(effects()).isEmpty();
    }

    private static void endSession(Connection connection) throws SQLException {
        boolean isPostgres = connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
        execute(connection, isPostgres ? "SELECT pg_terminate_backend(pg_backend_pid())" : "KILL CONNECTION_ID()");
    }

    /** On PostgreSQL the error aborts the transaction, and a commit silently becomes a rollback. */
    @Test
    void handlerThatSwallowsAnErrorIsNotDoneUnlessItsEffectIsThere() throws Exception {
        Postrider node = node(topic -> topic.retry(IN_AN_HOUR).process((message, work) -> {
            effect(message, work);
            try {
                execute(work.connection(), "INSERT INTO there_is_no_such_table VALUES (1)");
            } catch (SQLException e) {
                tried.add(1);
            }
        }));
        enqueue(node, 1);

        node.start();

        eventually(
                "the outcome is reported",
                () -> events.stream().anyMatch(e -> e instanceof Event.Delivered || e instanceof Event.Failed));
        assertThat(tried).hasSize(1);
        assertThat(events.stream().filter(Event.Delivered.class::isInstance)).hasSize(live() == 0 ? 1 : 0);
        assertThat(effects()).hasSize(live() == 0 ? 1 : 0);
    }

    private String rivalled() {
        return "UPDATE handled_rival SET n = n + 1 WHERE topic = '" + topic + "'";
    }

    /**
     * The server may still execute an earlier handler, which locks its message. Outcomes and leases of other messages do not wait for
     * that lock.
     */
    @Test
    void noStatementWaitsForALockedMessage() throws Exception {
        needsConcurrency();
        Postrider postrider = postrider();
        enqueue(postrider, 5);
        List<Claim> claims = claim(postrider);
        Claim locked = claims.get(0);
        MessageStore store = postrider.store();
        try (Connection holder = transaction()) {
            execute(holder, "UPDATE postrider_message SET last_error = 'busy' WHERE seq = " + locked.seq());

            assertThat(store.extend(claims, Duration.ofSeconds(30)).get(0)).isEqualTo(new Settlement.Locked(locked));
            List<Outcome> each = List.of(
                    new Outcome.Delivered(locked),
                    new Outcome.Retry(locked, Duration.ZERO, "no"),
                    new Outcome.Buried(locked, DeadReason.FAILED, "no"),
                    new Outcome.Released(locked));
            for (Outcome outcome : each) {
                assertThat(store.settle(List.of(outcome))).containsExactly(new Settlement.Locked(locked));
            }
            assertThat(store.settle(List.of(
                            new Outcome.Delivered(locked),
                            new Outcome.Delivered(claims.get(1)),
                            new Outcome.Retry(claims.get(2), Duration.ZERO, "no"),
                            new Outcome.Buried(claims.get(3), DeadReason.FAILED, "no"),
                            new Outcome.Released(claims.get(4)))))
                    .containsExactly(
                            new Settlement.Locked(locked),
                            new Settlement.Settled(claims.get(1)),
                            new Settlement.Settled(claims.get(2)),
                            new Settlement.Settled(claims.get(3)),
                            new Settlement.Settled(claims.get(4)));
            assertThat(handle(items(List.of(locked)), (claim, message, work) -> effect(message, work)))
                    .extracting(HandlingResult::end)
                    .containsExactly(End.LOCKED);
            holder.rollback();
        }
        assertThat(store.settle(List.of(new Outcome.Delivered(locked))))
                .containsExactly(new Settlement.Settled(locked));
        assertThat(effects()).isEmpty();
    }

    @Test
    void stoppedNodeUndoesWhatItsHandlersHaveNotFinished() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        Postrider node = postrider(builder -> builder.topic(
                        topic,
                        declared -> declared.process((message, work) -> {
                            effect(message, work);
                            inside.countDown();
                            never.await();
                        }))
                .dispatch(options -> options.drainTimeout(Duration.ZERO)));
        enqueue(node, 1);
        node.start();
        assertThat(inside.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

        node.stop();

        eventually("it was released", () -> column("state").equals("PENDING"));
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(effects()).isEmpty();
    }

    private static void awaitStubbornly(CountDownLatch latch) {
        boolean open = false;
        while (!open) {
            try {
                latch.await();
                open = true;
            } catch (InterruptedException e) {
                // this test needs a handler that ignores interrupts
            }
        }
    }

    private Postrider node(Consumer<Topic.Builder> declaration) {
        return postrider(builder -> builder.topic(topic, declaration)
                .dispatch(options -> options.pollInterval(Duration.ofMillis(200)))
                .listener(events::add));
    }

    private String answers() {
        return topic + "-answers";
    }

    private void effect(Message message, UnitOfWork work) throws SQLException {
        try (PreparedStatement insert =
                work.connection().prepareStatement("INSERT INTO handled_effect (topic, n) VALUES (?, ?)")) {
            insert.setString(1, topic);
            insert.setInt(2, number(message));
            insert.executeUpdate();
        }
    }

    private List<String> effects() throws SQLException {
        return list("SELECT n FROM handled_effect WHERE topic = '" + topic + "'");
    }

    private long answered() throws SQLException {
        return Long.parseLong(query("SELECT COUNT(*) FROM postrider_message WHERE topic = '" + answers() + "'"));
    }

    private HandlingStore.Handler paused(CountDownLatch inside, CountDownLatch go) {
        return (claim, message, work) -> {
            effect(claim.message(), work);
            inside.countDown();
            if (!go.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("the test did not continue the handler");
            }
        };
    }

    private HandlingStore.Transaction transaction(List<HandlingStore.Item> items, HandlingStore.Handler handler) {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), SOON, events::add)
                .handling()
                .transaction(items, new HandlingStore.Terms(handler, TIMEOUT, HandOver.none()));
    }

    private List<HandlingResult> handle(List<HandlingStore.Item> items, HandlingStore.Handler handler) {
        return transaction(items, handler).run();
    }

    /** Repeats until the row is not locked: the server may need time to detect that a client is gone. */
    private List<HandlingResult> handleWhenFree(List<HandlingStore.Item> items, HandlingStore.Handler handler)
            throws Exception {
        List<HandlingResult> handled = new CopyOnWriteArrayList<>();
        eventually("it is not locked", () -> {
            handled.clear();
            handled.addAll(handle(items, handler));
            return handled.stream().noneMatch(each -> each.end() == End.LOCKED);
        });
        return handled;
    }

    private static List<HandlingStore.Item> items(List<Claim> claims) {
        return claims.stream().map(claim -> new HandlingStore.Item(claim, null)).toList();
    }

    private static HandlingStore.Item item(LaneClaim claim) {
        return new HandlingStore.Item(claim.claim(), claim.place());
    }

    /** Simulates a claim of the message by another worker. */
    private void rob(Claim claim) throws SQLException {
        execute("UPDATE postrider_message SET lease_token = " + anotherToken() + " WHERE seq = " + claim.seq());
    }

    /** Makes another node acquire the lane from its owner. Changes no message row, because the rows may be locked. */
    private Holder robLane() throws SQLException {
        execute("UPDATE postrider_lane SET until = '2001-01-01 00:00:00'" + ofLane());
        return holder();
    }
}
