package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.Action;
import dev.postrider.admin.Admin;
import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.admin.OperationTerms;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.internal.store.OperationStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.WatchedDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract of background operations: every selected message is changed once, whichever nodes make the steps and die in them. */
public abstract class OperationContract extends LaneFixture {

    private static final OperationTerms ANN = OperationTerms.by("ann").reason("destination fixed");

    @AfterEach
    final void removeOperations() throws SQLException {
        execute("DELETE FROM postrider_operation");
    }

    private static OperationStore operations(DataSource dataSource, Duration timeout) {
        return JdbcDatabase.open(dataSource, TableOptions.defaults(), timeout, event -> {})
                .operations(() -> {});
    }

    private OperationStore operations() {
        return operations(dataSource(), SOON);
    }

    private static @Nullable Operation step(OperationStore node) {
        return node.step("node-1", LEASE).operation();
    }

    /** Makes steps until no operation is due. */
    private static void finish(OperationStore node) {
        Operation last;
        do {
            last = step(node);
        } while (last != null);
    }

    private static Operation now(Postrider postrider, Operation operation) {
        return postrider.admin().operation(operation.id()).orElseThrow();
    }

    private Filter here(State... states) {
        return Filter.in(states).topic(topic);
    }

    private void dead(Postrider postrider, int count) throws SQLException {
        enqueue(postrider, count);
        for (int done = 0; done < count; ) {
            List<Outcome> outcomes = new ArrayList<>();
            for (Claim claim : postrider.store().claim(request().limit(1000))) {
                outcomes.add(new Outcome.Buried(claim, DeadReason.REJECTED, "no"));
            }
            done += postrider.store().settle(outcomes).size();
        }
    }

    /** Delivers messages an hour ago. Returns a filter that selects them. */
    private Filter delivered(Postrider postrider, int count) throws SQLException {
        enqueue(postrider, count);
        List<Outcome> outcomes = new ArrayList<>();
        for (Claim claim : postrider.store().claim(request().limit(1000))) {
            outcomes.add(new Outcome.Delivered(claim));
        }
        assertThat(postrider.store().settle(outcomes)).hasSize(count);
        advance(Duration.ofHours(1));
        return Filter.delivered().topic(topic).delivered(null, Instant.now().minus(Duration.ofMinutes(30)));
    }

    /** Writes dead letters of an ordered topic, with ten messages of each key. */
    private Postrider deadInLanes(int lanes, int count) throws SQLException {
        Postrider postrider = postrider(
                builder -> builder.topic(topic, declared -> declared.ordered().lanes(lanes)));
        for (int i = 0; i < count; i++) {
            write(postrider, "key-" + i / 10, i);
        }
        execute("UPDATE postrider_message SET state = 'DEAD', reason = 'REJECTED', updated_at = created_at"
                + " WHERE topic = '" + topic + "'");
        return postrider;
    }

    private List<AuditEntry> audit(Postrider postrider) {
        return postrider.admin().audit(Long.MAX_VALUE, 100).stream()
                .filter(entry -> topic.equals(entry.topic()))
                .toList();
    }

    @Test
    void operationIsMadeInStepsUntilNothingMoreIsSelected() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 1100);
        OperationStore node = operations();

        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);

        assertThat(started.state()).isEqualTo(OperationState.WAITING);
        assertThat(started.filter()).isEqualTo("state=dead topic=" + topic);
        assertThat(started.terms()).isEqualTo(ANN);
        OperationStore.OperationStep first = node.step("node-1", LEASE);
        assertThat(first.first()).isTrue();
        assertThat(first.next()).isZero();
        assertThat(first.operation()).isEqualTo(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.RUNNING);
            assertThat(operation.changed()).isEqualTo(500);
            assertThat(operation.node()).isEqualTo("node-1");
            assertThat(operation.startedAt()).isNotNull();
            assertThat(operation.endedAt()).isNull();
        });
        finish(node);

        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
            assertThat(operation.changed()).isEqualTo(1100);
            assertThat(operation.skipped()).isZero();
            assertThat(operation.endedAt()).isNotNull();
        });
        assertThat(states()).hasSize(1100).containsOnly("PENDING");
        assertThat(audit(postrider)).extracting(AuditEntry::action).containsExactly("END_OPERATION", "START_OPERATION");
        assertThat(audit(postrider).get(0)).satisfies(entry -> {
            assertThat(entry.operator()).isEqualTo("ann");
            assertThat(entry.reason()).isEqualTo("destination fixed");
            assertThat(entry.filter())
                    .isEqualTo("operation=" + started.id() + " action=REPLAY state=dead topic=" + topic);
            assertThat(entry.changed()).isEqualTo(1100);
            assertThat(entry.skipped()).isZero();
        });
    }

    @Test
    void stepHasFewMessagesOfLanesAndKeepsTheOrderOfKeys() throws SQLException {
        Postrider postrider = deadInLanes(4, 120);
        OperationStore node = operations();
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);

        step(node);
        assertThat(now(postrider, started).changed()).isEqualTo(50);
        finish(node);

        assertThat(now(postrider, started))
                .satisfies(operation -> assertThat(operation.changed()).isEqualTo(120));
        assertThat(states())
                .filteredOn("RETRY"::equals)
                .as("the head of each key")
                .hasSize(12);
        assertThat(states()).filteredOn("BLOCKED"::equals).hasSize(108);
    }

    @Test
    void limitEndsAnOperation() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 520);
        Operation started = postrider.admin().start(Action.DISCARD, here(State.DEAD), ANN.limit(510));

        finish(operations());

        assertThat(now(postrider, started).state()).isEqualTo(OperationState.COMPLETED);
        assertThat(now(postrider, started).changed()).isEqualTo(510);
        assertThat(live()).isEqualTo(10);
    }

    @Test
    void rateIsKeptByWhicheverNodeMakesTheNextStep() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 30);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN.perSecond(10));
        OperationStore node = operations();

        assertThat(step(node)).isNotNull();

        assertThat(now(postrider, started).changed()).isEqualTo(10);
        assertThat(query("SELECT COUNT(*) FROM postrider_operation WHERE until > updated_at"))
                .isEqualTo("1");
        execute("UPDATE postrider_operation SET until = '2999-01-01 00:00:00'");
        OperationStore.OperationStep early = operations().step("node-2", LEASE);
        assertThat(early.operation()).isNull();
        assertThat(early.next()).isGreaterThan(Duration.ofDays(1));
        execute("UPDATE postrider_operation SET until = created_at");
        assertThat(step(operations())).isNotNull();
        assertThat(now(postrider, started).changed()).isEqualTo(20);
    }

    @Test
    void deliveredMessagesAreRedeliveredInSteps() throws SQLException {
        Postrider postrider = postrider();
        Filter range = delivered(postrider, 250);
        Operation started = postrider.admin().start(Action.REDELIVER_AS_NEW, range, ANN);

        finish(operations());

        assertThat(now(postrider, started).changed()).isEqualTo(250);
        assertThat(live()).isEqualTo(250);
        Operation again = postrider.admin().start(Action.REDELIVER, range, ANN);
        finish(operations());
        assertThat(now(postrider, again).changed()).isZero();
        assertThat(now(postrider, again).skipped()).isEqualTo(250);
    }

    @Test
    void filterThatTheActionCannotUseIsRefusedAtTheStart() {
        Admin admin = postrider().admin();

        assertThatThrownBy(() -> admin.start(Action.REPLAY, here(State.PENDING), ANN))
                .isInstanceOf(InvalidConfigurationException.class);
        assertThatThrownBy(() -> admin.start(Action.REDELIVER, here(State.DELIVERED), ANN))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("must end at a delivery time that has passed");
        assertThat(admin.operations(Long.MAX_VALUE, 100)).isEmpty();
    }

    @Test
    void operationsAreListedTheNewestFirstAndFewAreOpen() {
        Admin admin = postrider().admin();
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ids.add(0, admin.start(Action.REPLAY, here(State.DEAD), ANN).id());
        }

        assertThat(admin.operations(Long.MAX_VALUE, 60))
                .extracting(Operation::id)
                .isEqualTo(ids.subList(0, 60));
        assertThat(admin.operations(ids.get(59), 60)).extracting(Operation::id).isEqualTo(ids.subList(60, 100));
        assertThatThrownBy(() -> admin.start(Action.REPLAY, here(State.DEAD), ANN))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("100 are waiting or running");
        assertThat(admin.operation(Long.MAX_VALUE)).isEmpty();
    }

    @Test
    void endedOperationsAreRemovedAfterAQuarterOfAYear() {
        Admin admin = postrider().admin();
        Operation old = admin.start(Action.REPLAY, here(State.DEAD), ANN);
        finish(operations());
        advance(Duration.ofDays(91));
        Operation open = admin.start(Action.REPLAY, here(State.DEAD), ANN);
        advance(Duration.ofDays(91));

        Operation last = admin.start(Action.REPLAY, here(State.DEAD), ANN);

        assertThat(admin.operation(old.id())).isEmpty();
        assertThat(admin.operations(Long.MAX_VALUE, 10))
                .extracting(Operation::id)
                .containsExactly(last.id(), open.id());
    }

    @Test
    void cancelledOperationChangesNothingMore() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 600);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        OperationStore node = operations();
        step(node);

        assertThat(postrider.admin().cancel(started.id(), "bob")).isEqualTo(Repair.DONE);
        assertThat(postrider.admin().cancel(started.id(), "bob")).isEqualTo(Repair.WRONG_STATE);
        assertThat(postrider.admin().cancel(Long.MAX_VALUE, "bob")).isEqualTo(Repair.NOT_FOUND);
        assertThatThrownBy(() -> postrider.admin().cancel(started.id(), " "))
                .isInstanceOf(InvalidConfigurationException.class);

        assertThat(step(node)).isNull();
        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.CANCELLED);
            assertThat(operation.changed()).isEqualTo(500);
        });
        assertThat(states()).filteredOn("PENDING"::equals).hasSize(500);
        assertThat(audit(postrider).get(0)).satisfies(entry -> {
            assertThat(entry.action()).isEqualTo("CANCEL_OPERATION");
            assertThat(entry.operator()).isEqualTo("bob");
            assertThat(entry.changed()).isEqualTo(500);
        });
    }

    @Test
    void cancellationWaitsForTheRunningStepAndTheStepCounts() throws Exception {
        Postrider postrider = deadInLanes(1, 60);
        needsConcurrency();
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        CompletableFuture<@Nullable Operation> running;
        CompletableFuture<Repair> cancelling;
        try (Connection other = transaction()) {
            lockLane(other);
            running = CompletableFuture.supplyAsync(() -> step(operations()));
            awaitLockWait(running);
            cancelling = CompletableFuture.supplyAsync(() -> postrider.admin().cancel(started.id(), "bob"));
            assertThat(cancelling).as("waits for the step").isNotDone();
            other.rollback();
        }

        running.get(60, TimeUnit.SECONDS);
        assertThat(cancelling.get(60, TimeUnit.SECONDS)).isEqualTo(Repair.DONE);
        assertThat(step(operations())).isNull();
        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.CANCELLED);
            assertThat(operation.changed()).isEqualTo(50);
        });
        assertThat(states()).filteredOn("DEAD"::equals).hasSize(10);
    }

    @Test
    void messagesOfALaneThatStaysLockedAreSkipped() throws Exception {
        Postrider postrider = deadInLanes(1, 20);
        needsConcurrency();
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        try (Connection other = transaction()) {
            lockLane(other);
            finish(operations(dataSource(), Duration.ofSeconds(3)));
            other.rollback();
        }

        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
            assertThat(operation.changed()).isZero();
            assertThat(operation.skipped()).isEqualTo(20);
        });
    }

    /** A process that dies when it has passed so many boundaries: before each change and each commit, and after the commit. */
    private static final class Dying extends WatchedDataSource {

        private final AtomicInteger left;

        Dying(DataSource target, int dieAt) {
            super(target);
            left = new AtomicInteger(dieAt);
        }

        @Override
        protected Object on(Call call) throws Throwable {
            if (call.isCommit() || call.name().equals("executeUpdate")) {
                reach(call.connection());
            }
            Object answer = call.proceed();
            if (call.isCommit()) {
                reach(call.connection());
            }
            return answer;
        }

        private void reach(Connection connection) throws SQLException {
            if (left.getAndDecrement() <= 1) {
                connection.abort(Runnable::run);
                throw new SQLException("The process is dead", "08006");
            }
        }
    }

    /** Makes the last step of the operation in a process that dies at each boundary in turn, and ends it in another one. */
    private void dieAtEveryBoundary(Postrider postrider, Operation started, Runnable undo, int expected)
            throws Exception {
        OperationStore survivor = operations();
        int died = 0;
        for (int dieAt = 1; ; dieAt++) {
            Dying dying = new Dying(dataSource(), Integer.MAX_VALUE);
            OperationStore node = operations(dying, SOON);
            dying.left.set(dieAt);
            boolean survived = true;
            try {
                node.step("doomed", LEASE);
            } catch (StoreException e) {
                survived = false;
                died++;
            }
            endLease(started);

            eventually("the server has ended the transaction of the dead process", () -> {
                step(survivor);
                return now(postrider, started).state().isEnded();
            });

            assertThat(now(postrider, started)).as("died at boundary %s", dieAt).satisfies(operation -> {
                assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
                assertThat(operation.changed()).isEqualTo(expected);
                assertThat(operation.skipped()).isZero();
            });
            assertThat(live()).as("died at boundary %s", dieAt).isEqualTo(expected);
            assertThat(audit(postrider).stream().filter(entry -> entry.action().equals("END_OPERATION")))
                    .as("died at boundary %s", dieAt)
                    .hasSize(1);
            if (survived) {
                assertThat(died).isGreaterThan(8);
                return;
            }
            undo.run();
        }
    }

    private void endLease(Operation operation) throws SQLException {
        execute("UPDATE postrider_operation SET until = created_at WHERE id = " + operation.id());
    }

    @Test
    void processThatDiesAtAnyBoundaryOfAStepRepeatsNothingAndSkipsNothing() throws Exception {
        Postrider postrider = postrider();
        Filter range = delivered(postrider, 3);
        Operation started = postrider.admin().start(Action.REDELIVER_AS_NEW, range, ANN);

        dieAtEveryBoundary(
                postrider,
                started,
                () -> reset(
                        started,
                        "DELETE FROM postrider_message WHERE topic = '" + topic + "'",
                        "UPDATE postrider_archive SET redelivered_at = NULL WHERE topic = '" + topic + "'"),
                3);
    }

    @Test
    void processThatDiesInAStepOfLanesRepeatsNothingAndSkipsNothing() throws Exception {
        Postrider postrider = deadInLanes(2, 4);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);

        dieAtEveryBoundary(
                postrider,
                started,
                () -> reset(
                        started,
                        "UPDATE postrider_message SET state = 'DEAD', reason = 'REJECTED' WHERE topic = '" + topic
                                + "'"),
                4);
        assertThat(states()).containsExactly("RETRY", "BLOCKED", "BLOCKED", "BLOCKED");
    }

    private void reset(Operation operation, String... undo) {
        try {
            for (String statement : undo) {
                execute(statement);
            }
            execute("DELETE FROM postrider_audit WHERE action = 'END_OPERATION'");
            execute("UPDATE postrider_operation SET state = 'WAITING', reached = NULL, changed = 0, skipped = 0,"
                    + " ended_at = NULL WHERE id = " + operation.id());
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Does something just before the change of a step begins. */
    private static final class BeforeTheChange extends WatchedDataSource {

        private final Runnable before;

        BeforeTheChange(DataSource target, Runnable before) {
            super(target);
            this.before = before;
        }

        @Override
        protected Object on(Call call) throws Throwable {
            String sql = call.sql();
            if (call.isExecution() && sql != null && sql.contains("token = ? AND state = 'RUNNING' FOR UPDATE")) {
                before.run();
            }
            return call.proceed();
        }
    }

    @Test
    void nodeThatWasReplacedOrCancelledBeforeItsChangeChangesNothing() throws Exception {
        Postrider postrider = postrider();
        needsConcurrency();
        dead(postrider, 10);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        OperationStore other = operations();
        OperationStore replaced = operations(
                new BeforeTheChange(dataSource(), () -> {
                    advance(LEASE.plusSeconds(1));
                    finish(other);
                }),
                SOON);

        step(replaced);

        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
            assertThat(operation.changed()).isEqualTo(10);
            assertThat(operation.skipped()).isZero();
        });
        execute("UPDATE postrider_message SET state = 'DEAD', reason = 'REJECTED' WHERE topic = '" + topic + "'");
        Operation second = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        step(operations(
                new BeforeTheChange(dataSource(), () -> postrider.admin().cancel(second.id(), "bob")), SOON));
        assertThat(now(postrider, second).state()).isEqualTo(OperationState.CANCELLED);
        assertThat(states()).containsOnly("DEAD");
    }

    @Test
    void nodesThatRaceForAnOperationChangeEachMessageOnce() throws Exception {
        Postrider postrider = postrider();
        Filter range = delivered(postrider, 900);
        Operation started = postrider.admin().start(Action.REDELIVER_AS_NEW, range, ANN);
        CyclicBarrier together = new CyclicBarrier(3);
        List<CompletableFuture<Void>> nodes = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            nodes.add(CompletableFuture.runAsync(() -> {
                OperationStore node = operations();
                try {
                    together.await();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                while (!now(postrider, started).state().isEnded()) {
                    step(node);
                }
            }));
        }
        for (CompletableFuture<Void> node : nodes) {
            node.get(60, TimeUnit.SECONDS);
        }

        assertThat(now(postrider, started).changed()).isEqualTo(900);
        assertThat(now(postrider, started).skipped()).isZero();
        assertThat(live()).isEqualTo(900);
    }

    /** Refuses to write messages. */
    private static final class Refusing extends WatchedDataSource {

        Refusing(DataSource target) {
            super(target);
        }

        @Override
        protected Object on(Call call) throws Throwable {
            String sql = call.sql();
            if (call.isExecution() && sql != null && sql.contains("SET state = 'PENDING'")) {
                throw new SQLException("not so, password=s3cret", "22000");
            }
            return call.proceed();
        }
    }

    @Test
    void operationThatFailsIsTriedAgainAndFailsForGoodAfterTenTimes() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 5);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        OperationStore broken = operations(new Refusing(dataSource()), SOON);

        for (int failure = 1; failure < 10; failure++) {
            assertThat(step(broken)).isNotNull().satisfies(operation -> {
                assertThat(operation.state()).isEqualTo(OperationState.RUNNING);
                assertThat(operation.error()).contains("not so").doesNotContain("s3cret");
            });
            assertThat(step(broken)).as("a pause").isNull();
            advance(Duration.ofSeconds(5));
        }
        step(broken);

        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.FAILED);
            assertThat(operation.error()).contains("not so");
            assertThat(operation.changed()).isZero();
        });
        assertThat(audit(postrider).get(0).action()).isEqualTo("END_OPERATION");
        assertThat(states()).containsOnly("DEAD");
    }

    @Test
    void operationGoesOnAfterAFailure() throws SQLException {
        Postrider postrider = postrider();
        dead(postrider, 5);
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        step(operations(new Refusing(dataSource()), SOON));
        advance(Duration.ofSeconds(5));

        finish(operations());

        assertThat(now(postrider, started)).satisfies(operation -> {
            assertThat(operation.state()).isEqualTo(OperationState.COMPLETED);
            assertThat(operation.error()).isNull();
            assertThat(operation.changed()).isEqualTo(5);
        });
    }

    @Test
    void operationWhoseFilterALaterVersionWroteFails() throws SQLException {
        Postrider postrider = postrider();
        Operation started = postrider.admin().start(Action.REPLAY, here(State.DEAD), ANN);
        execute("UPDATE postrider_operation SET filter_json = '{\"v\":2}' WHERE id = " + started.id());

        step(operations());

        assertThat(now(postrider, started).state()).isEqualTo(OperationState.FAILED);
        assertThat(now(postrider, started).error()).contains("version 2");
        assertThat(now(postrider, started).filter()).isEqualTo("{\"v\":2}");
    }

    @Test
    void startedNodeMakesTheStepsAndReportsThem() throws Exception {
        Postrider node = postrider(builder -> builder.topic(topic, declared -> declared.deliver(delivery -> {}))
                .listener(events::add));
        dead(node, 5);
        node.start();

        Operation started = node.admin().start(Action.REPLAY, here(State.DEAD), ANN);

        eventually("they are delivered", () -> archived() == 5);
        eventually("the end is reported", () -> events.stream().anyMatch(Event.OperationEnded.class::isInstance));
        assertThat(events.stream()
                        .filter(Event.OperationEnded.class::isInstance)
                        .map(event -> ((Event.OperationEnded) event).operation()))
                .singleElement()
                .isEqualTo(now(node, started));
        assertThat(events.stream().filter(Event.OperationStarted.class::isInstance))
                .hasSize(1);
        assertThat(now(node, started).changed()).isEqualTo(5);
    }
}
