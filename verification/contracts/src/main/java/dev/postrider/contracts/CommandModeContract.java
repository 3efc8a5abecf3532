package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.error.StoreException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.Command.OnLostLease;
import dev.postrider.idempotency.CommandLostException;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.OutcomeProbe;
import dev.postrider.idempotency.ResultCodecs;
import dev.postrider.testkit.StatementHooks;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of joined commands, in the transaction of the caller, and of leased commands, with an external effect. */
public abstract class CommandModeContract extends CommandFixture {

    /** How often a test asks again. */
    private static final long TRY_EVERY = TimeUnit.MILLISECONDS.toNanos(20);

    private static final Duration SHORT = Duration.ofMillis(200);

    /** The conflicts after which a caller ran its transaction again. */
    private final List<TransactionConflictException> conflicts = new CopyOnWriteArrayList<>();

    private Command<String> impatient(String key) {
        return builder(key).with(options -> options.joinWait(SHORT)).returningText();
    }

    private Command<String> patient(String key) {
        return builder(key)
                .with(options -> options.joinWait(Duration.ofSeconds(PATIENCE)))
                .returningText();
    }

    // In the caller's transaction

    @Test
    void joinedCommandCommitsWithTheCallersTransaction() throws Exception {
        try (Connection connection = transaction()) {
            CommandResult<String> first = commands.join(connection, command("k"), tx -> {
                tx.stage(message().build());
                return effect(tx, "a");
            });
            assertThat(first.orElseThrow()).isEqualTo("done a");
            assertThat(first.isReplayed()).isFalse();
            connection.commit();
        }
        assertThat(effects()).containsExactly("a");
        assertThat(live()).isEqualTo(1);
        try (Connection connection = transaction()) {
            CommandResult<String> second = commands.join(connection, command("k"), tx -> effect(tx, "b"));
            assertThat(second.orElseThrow()).isEqualTo("done a");
            assertThat(second.isReplayed()).isTrue();
            connection.commit();
        }
        assertThat(commands.run(command("k"), tx -> effect(tx, "c")).orElseThrow())
                .isEqualTo("done a");
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void joinedCommandIsGoneWithTheCallersRollback() throws Exception {
        try (Connection connection = transaction()) {
            commands.join(connection, command("k"), tx -> effect(tx, "a"));
            connection.rollback();
        }
        assertThat(effects()).isEmpty();
        assertThat(row("state")).isEqualTo("none");
    }

    @Test
    void failureOfJoinedWorkUndoesItAndLeavesTheRestOfTheTransaction() throws Exception {
        try (Connection connection = transaction()) {
            insertEffect(connection, "before");
            assertThatThrownBy(() -> commands.join(connection, command("k"), tx -> {
                        effect(tx, "a");
                        tx.stage(message().build());
                        throw new IllegalStateException("no");
                    }))
                    .isInstanceOf(IllegalStateException.class);
            insertEffect(connection, "later");
            connection.commit();
        }
        assertThat(effects()).containsExactly("before", "later");
        assertThat(live()).isZero();
        assertThat(row("state")).as("the key is free").isEqualTo("none");
    }

    @Test
    void rejectionOfJoinedWorkUndoesItAndIsKept() throws Exception {
        try (Connection connection = transaction()) {
            insertEffect(connection, "before");
            CommandResult<String> no = commands.join(connection, command("k"), tx -> {
                effect(tx, "a");
                tx.stage(message().build());
                throw new CommandRejectedException("never");
            });
            assertThat(no).isInstanceOf(CommandResult.Rejected.class);
            connection.commit();
        }
        assertThat(effects()).containsExactly("before");
        assertThat(live()).isZero();
        assertThat(commands.run(command("k"), tx -> effect(tx, "b")))
                .isInstanceOfSatisfying(
                        CommandResult.Rejected.class,
                        no -> assertThat(no.reason()).isEqualTo("never"));
    }

    /** The hidden commit also commits the claim. Another run would repeat what was committed with it. */
    @Test
    void joinedCommandWhoseWorkEndsItsTransactionUnseenIsNotRunAgain() throws Exception {
        String end = hiddenCommit();
        try (Connection connection = transaction()) {
            assertThatThrownBy(() -> commands.join(connection, command("k"), tx -> {
                        effect(tx, "a");
                        try (Statement statement = tx.connection().createStatement()) {
                            statement.execute(end);
                        }
                        return "done";
                    }))
                    .isInstanceOf(UnusableConnectionException.class);
            connection.rollback();
        }
        assertThat(commands.run(command("k"), tx -> effect(tx, "b")))
                .as("before its lease ends")
                .isInstanceOf(CommandResult.InProgress.class);
        expireLease();
        try (Connection connection = transaction()) {
            assertThat(commands.join(connection, command("k"), tx -> effect(tx, "c")))
                    .isInstanceOf(CommandResult.Uncertain.class);
            connection.commit();
        }
        assertThat(commands.run(command("k"), tx -> effect(tx, "d"))).isInstanceOf(CommandResult.Uncertain.class);
        assertThat(effects()).containsExactly("a");
        assertThat(row("state")).isEqualTo("UNCERTAIN");
    }

    @Test
    void joinWaitsNoLongerThanItMayAndTheTransactionGoesOn() throws Exception {
        needsConcurrency();
        try (Connection holder = transaction();
                Connection second = transaction()) {
            commands.join(holder, command("k"), tx -> effect(tx, "holder"));
            insertEffect(second, "before");
            String timeout = lockTimeout(second);

            CommandResult<String> busy = commands.join(second, impatient("k"), tx -> effect(tx, "second"));

            assertThat(busy)
                    .isInstanceOfSatisfying(
                            CommandResult.InProgress.class,
                            now -> assertThat(now.reference()).isNull());
            assertThat(lockTimeout(second)).as("is unchanged").isEqualTo(timeout);
            second.commit();
            holder.commit();
        }
        assertThat(effects()).containsExactly("before", "holder");
    }

    /** A lock timeout is a conflict, not an unavailable database. It leaves no claim. */
    @Test
    void claimThatMeetsALockGivesWayAndLeavesNothing() throws Exception {
        needsConcurrency();
        Commands node = node(builder -> builder.dispatch(options -> options.lease(Duration.ofSeconds(6))
                        .pollInterval(Duration.ofSeconds(1)))) // a lock timeout of one second
                .commands();
        try (Connection holder = transaction()) {
            commands.join(holder, command("k"), tx -> effect(tx, "holder"));
            assertThatThrownBy(() -> node.run(command("k"), tx -> effect(tx, "a")))
                    .isInstanceOf(TransactionConflictException.class);
            assertThatThrownBy(() -> node.lease(command("k"), lease -> "b"))
                    .isInstanceOf(TransactionConflictException.class);
            holder.rollback();
        }
        assertThat(row("state")).isEqualTo("none");
        assertThat(node.run(command("k"), tx -> effect(tx, "c")).orElseThrow()).isEqualTo("done c");
        assertThat(effects()).containsExactly("c");
    }

    @Test
    void takingOverThatMeetsALockGivesWayAndChangesNothing() throws Exception {
        needsConcurrency();
        Commands node = node(builder -> builder.dispatch(
                        options -> options.lease(Duration.ofSeconds(6)).pollInterval(Duration.ofSeconds(1))))
                .commands();
        claimed("k");
        expireLease();
        try (Connection holder = transaction();
                var lock = holder.prepareStatement("SELECT id FROM postrider_command WHERE operation = ? FOR UPDATE")) {
            lock.setString(1, operation);
            lock.executeQuery();
            assertThatThrownBy(() -> node.run(command("k"), tx -> effect(tx, "a")))
                    .isInstanceOf(TransactionConflictException.class);
            holder.rollback();
        }
        assertThat(row("fence")).isEqualTo("1");
        assertThat(node.run(command("k"), tx -> effect(tx, "b")).orElseThrow()).isEqualTo("done b");
        assertThat(effects()).containsExactly("b");
    }

    /** The lock timeout of the session, which a bounded wait must restore. */
    private static String lockTimeout(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        String sql = product.equals("PostgreSQL")
                ? "SELECT current_setting('lock_timeout')"
                : "SELECT @@innodb_lock_wait_timeout";
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void callerThatWaitsForAJoinedCommandGetsItsResultOrRuns() throws Exception {
        needsConcurrency();
        for (boolean commits : new boolean[] {true, false}) {
            String key = "k" + commits;
            try (Connection holder = transaction()) {
                commands.join(holder, command(key), tx -> effect(tx, "holder"));
                CountDownLatch asking = new CountDownLatch(1);
                Future<CommandResult<String>> waiting = threads.submit(() -> {
                    try (Connection second = transaction()) {
                        asking.countDown();
                        CommandResult<String> result = commands.join(second, patient(key), tx -> effect(tx, "second"));
                        second.commit();
                        return result;
                    }
                });
                assertThat(asking.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
                if (commits) {
                    holder.commit();
                } else {
                    holder.rollback();
                }
                CommandResult<String> result = waiting.get(PATIENCE, TimeUnit.SECONDS);
                assertThat(result.orElseThrow()).isEqualTo(commits ? "done holder" : "done second");
                assertThat(result.isReplayed()).isEqualTo(commits);
            }
        }
        assertThat(effects()).containsExactly("holder", "second");
    }

    /** On MySQL and MariaDB, the second and third got a shared lock when the first rolled back, and deadlocked. */
    @Test
    void manyInsertersOfOneKeyHaveOneEffectWhenTheFirstRollsBack() throws Exception {
        needsConcurrency();
        int others = 4;
        CyclicBarrier together = new CyclicBarrier(others + 1);
        AtomicInteger ran = new AtomicInteger();
        List<Future<Boolean>> waiting;
        try (Connection first = transaction()) {
            commands.join(first, command("k"), tx -> effect(tx, "first"));
            waiting = IntStream.range(0, others)
                    .mapToObj(i -> threads.submit(() -> {
                        together.await(PATIENCE, TimeUnit.SECONDS);
                        return joinUntilDone(ran);
                    }))
                    .toList();
            together.await(PATIENCE, TimeUnit.SECONDS);
            first.rollback();
        }
        for (Future<Boolean> one : waiting) {
            assertThat(one.get(PATIENCE, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(ran).hasValue(1);
        assertThat(effects()).containsExactly("another");
    }

    /** Runs the transaction again after each conflict, as a caller does. */
    private boolean joinUntilDone(AtomicInteger ran) throws SQLException {
        while (true) {
            try (Connection connection = transaction()) {
                CommandResult<String> result = commands.join(connection, command("k"), tx -> effect(tx, "another"));
                connection.commit();
                if (result.isCompleted()) {
                    ran.addAndGet(result.isReplayed() ? 0 : 1);
                    return true;
                }
            } catch (TransactionConflictException e) {
                conflicts.add(e);
            }
        }
    }

    @Test
    void joinRefusesAConnectionWithoutATransaction() throws Exception {
        try (Connection connection = dataSource().getConnection()) {
            assertThatThrownBy(() -> commands.join(connection, command("k"), tx -> effect(tx, "a")))
                    .isInstanceOf(UnusableConnectionException.class)
                    .hasMessageContaining("each statement")
                    .hasMessageNotContaining("message");
        }
        assertThat(row("state")).isEqualTo("none");
    }

    // Under a lease

    @Test
    void leasedCommandRunsOnceAndIsReplayed() {
        AtomicInteger calls = new AtomicInteger();
        CommandResult<String> first = commands.lease(command("k"), lease -> "call " + calls.incrementAndGet());
        CommandResult<String> second = commands.lease(command("k"), lease -> "call " + calls.incrementAndGet());

        assertThat(first.orElseThrow()).isEqualTo("call 1");
        assertThat(second.orElseThrow()).isEqualTo("call 1");
        assertThat(second.isReplayed()).isTrue();
        assertThat(calls).hasValue(1);
    }

    @Test
    void rejectionOfLeasedWorkIsKeptAndFailureIsRetried() {
        assertThat(commands.lease(command("no"), lease -> {
                    throw new CommandRejectedException("never");
                }))
                .isInstanceOf(CommandResult.Rejected.class);
        assertThat(commands.lease(command("no"), lease -> "yes")).isInstanceOf(CommandResult.Rejected.class);

        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(commands.lease(command("k"), lease -> "attempt " + lease.attempt())
                        .orElseThrow())
                .isEqualTo("attempt 2");
    }

    @Test
    void leaseLostBeforeTheEffectIsTakenOver() throws Exception {
        Zombie zombie = zombie("k", false, builder("k").returningText());

        assertThat(node(builder -> builder)
                        .commands()
                        .lease(command("k"), lease -> "heir " + lease.attempt())
                        .orElseThrow())
                .isEqualTo("heir 2");
        assertThat(zombie.end()).isEqualTo(new CommandResult.Completed<>(zombie.reference(), "heir 2", true));
    }

    @Test
    void leaseLostAfterTheEffectBeganIsUncertainUntilAnOperatorSays() throws Exception {
        Zombie zombie = zombie("k", true, command("k"));
        Commands other = node(builder -> builder).commands();

        assertThat(other.lease(command("k"), lease -> "heir"))
                .isEqualTo(new CommandResult.Uncertain<>(zombie.reference()));
        assertThat(other.lease(command("k"), lease -> "heir")).isInstanceOf(CommandResult.Uncertain.class);
        assertThat(row("state")).isEqualTo("UNCERTAIN");
        assertThat(events(Event.CommandUncertain.class)).hasSize(1);
    }

    /** After a timeout, a status 502 or a lost answer, the effect may have happened, so no caller may repeat it. */
    @Test
    void failureAfterTheEffectBeganIsUncertain() throws Exception {
        AtomicInteger effects = new AtomicInteger();
        IllegalStateException timeout = new IllegalStateException("no answer");
        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    lease.externalEffectStarted();
                    effects.incrementAndGet();
                    throw timeout;
                }))
                .isSameAs(timeout);

        assertThat(row("state")).isEqualTo("UNCERTAIN");
        assertThat(row("reason")).contains("no answer");
        assertThat(events(Event.CommandUncertain.class)).hasSize(1);
        assertThat(events(Event.CommandFailed.class)).isEmpty();
        for (int i = 0; i < 3; i++) {
            assertThat(commands.lease(command("k"), lease -> "again " + effects.incrementAndGet()))
                    .isInstanceOf(CommandResult.Uncertain.class);
        }
        assertThat(effects).hasValue(1);
    }

    @Test
    void lostRecordOfAStepAfterTheEffectBeganIsUncertain() throws Exception {
        StatementHooks hooks = new StatementHooks(dataSource());
        Commands fragile = Postrider.on(hooks).topic(topic).build().commands();
        AtomicInteger effects = new AtomicInteger();
        assertThatThrownBy(() -> fragile.lease(command("k"), lease -> {
                    lease.externalEffectStarted();
                    hooks.breakAt(1, true);
                    return lease.step("charge", ResultCodecs.text(), () -> "charged " + effects.incrementAndGet());
                }))
                .isInstanceOf(StoreException.class);
        assertThat(hooks.disarm()).as("the record of the step was lost").isTrue();

        assertThat(commands.lease(command("k"), lease -> "again " + effects.incrementAndGet()))
                .isInstanceOf(CommandResult.Uncertain.class);
        assertThat(effects).hasValue(1);
    }

    @Test
    void failureIsRetriedWhenTheEffectSurelyDidNotHappen() throws Exception {
        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    lease.externalEffectStarted();
                    lease.externalEffectDidNotHappen();
                    throw new IllegalStateException("connection refused");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(row("state")).isEqualTo("FAILED");

        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    lease.externalEffectStarted();
                    lease.externalEffectDidNotHappen();
                    lease.externalEffectStarted();
                    throw new IllegalStateException("no answer to the second request");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(commands.lease(command("k"), lease -> "third")).isInstanceOf(CommandResult.Uncertain.class);
    }

    @Test
    void failureAfterAHarmlessEffectBeganIsRetried() {
        Command<String> harmless = builder("k")
                .with(options -> options.onLostLease(OnLostLease.TAKE_OVER))
                .returningText();
        assertThatThrownBy(() -> commands.lease(harmless, lease -> {
                    lease.externalEffectStarted();
                    throw new IllegalStateException("no answer");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(commands.lease(harmless, lease -> "attempt " + lease.attempt())
                        .orElseThrow())
                .isEqualTo("attempt 2");
    }

    @Test
    void ownerThatComesBackEndsTheUncertainty() throws Exception {
        Zombie zombie = zombie("k", true, command("k"));
        Commands other = node(builder -> builder).commands();
        assertThat(other.lease(command("k"), lease -> "heir")).isInstanceOf(CommandResult.Uncertain.class);

        assertThat(zombie.end().orElseThrow()).isEqualTo("zombie");
        assertThat(other.lease(command("k"), lease -> "heir").orElseThrow()).isEqualTo("zombie");
    }

    @Test
    void policyDecidesOverTheMode() throws Exception {
        Command<String> careful = builder("careful")
                .with(options -> options.onLostLease(OnLostLease.UNCERTAIN))
                .returningText();
        zombie("careful", false, careful);
        assertThat(node(builder -> builder).commands().lease(careful, lease -> "heir"))
                .isInstanceOf(CommandResult.Uncertain.class);

        Command<String> bold = builder("bold")
                .with(options -> options.onLostLease(OnLostLease.TAKE_OVER))
                .returningText();
        zombie("bold", true, bold);
        assertThat(node(builder -> builder)
                        .commands()
                        .lease(bold, lease -> "heir")
                        .orElseThrow())
                .isEqualTo("heir");
    }

    @Test
    void probeEndsTheUncertainty() throws Exception {
        AtomicReference<OutcomeProbe.Finding<String>> finding =
                new AtomicReference<>(new OutcomeProbe.Finding<>(OutcomeProbe.Kind.UNKNOWN, null));
        Zombie happened = zombie("k", true, command("k"));
        Command<String> probed = command("k").probedBy(question -> {
            assertThat(question.reference()).isEqualTo(happened.reference());
            return Objects.requireNonNull(finding.get());
        });
        Commands other = node(builder -> builder).commands();
        assertThat(other.lease(probed, lease -> "heir")).isInstanceOf(CommandResult.Uncertain.class);

        finding.set(new OutcomeProbe.Finding<>(OutcomeProbe.Kind.HAPPENED, "found"));
        assertThat(other.lease(probed, lease -> "heir").orElseThrow()).isEqualTo("found");

        Command<String> again =
                command("k2").probedBy(question -> new OutcomeProbe.Finding<>(OutcomeProbe.Kind.DID_NOT_HAPPEN, null));
        zombie("k2", true, command("k2"));
        assertThat(other.lease(again, lease -> "heir " + lease.attempt()).orElseThrow())
                .isEqualTo("heir 2");
    }

    /** The other system has only this key: a probe with another key would find nothing, and the retry would repeat the effect. */
    @Test
    void probeAsksWithTheKeyThatTheOtherSystemWasGiven() {
        Set<UUID> elsewhere = ConcurrentHashMap.newKeySet();
        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    lease.externalEffectStarted();
                    elsewhere.add(lease.downstreamKey("charge"));
                    throw new IllegalStateException("no answer");
                }))
                .isInstanceOf(IllegalStateException.class);
        Command<String> probed = command("k")
                .probedBy(question -> elsewhere.contains(question.downstreamKey("charge"))
                        ? OutcomeProbe.Finding.happened("found")
                        : OutcomeProbe.Finding.didNotHappen());
        assertThat(commands.lease(probed, lease -> "done twice").orElseThrow()).isEqualTo("found");
    }

    @Test
    void hangingProbeHoldsUpNoCallerAndItsAnswerIsWritten() throws Exception {
        zombie("k", true, command("k"));
        CountDownLatch answering = new CountDownLatch(1);
        AtomicInteger asked = new AtomicInteger();
        Command<String> probed = command("k").probedBy(question -> {
            asked.incrementAndGet();
            try {
                answering.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return new OutcomeProbe.Finding<>(OutcomeProbe.Kind.HAPPENED, "found");
        });
        Commands other = node(builder -> builder).commands();
        try {
            List<Future<CommandResult<String>>> callers = IntStream.range(0, 4)
                    .mapToObj(i -> threads.submit(() -> other.lease(probed, lease -> "heir")))
                    .toList();
            for (Future<CommandResult<String>> caller : callers) {
                assertThat(caller.get(PATIENCE, TimeUnit.SECONDS)).isInstanceOf(CommandResult.InProgress.class);
            }
            assertThat(other.lease(probed, lease -> "heir")).isInstanceOf(CommandResult.InProgress.class);
            assertThat(asked).as("one probe for all of them").hasValue(1);
        } finally {
            answering.countDown();
        }
        Command<String> patient = builder("k")
                .with(options -> options.waitForResult(Duration.ofSeconds(PATIENCE)))
                .returningText()
                .probedBy(Objects.requireNonNull(probed.probe()));
        assertThat(other.lease(patient, lease -> "heir").orElseThrow()).isEqualTo("found");
    }

    @Test
    void tooManyFailuresAreUncertain() {
        Command<String> twice =
                builder("k").with(options -> options.maxAttempts(2)).returningText();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> commands.run(twice, tx -> {
                        throw new IllegalStateException();
                    }))
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThat(commands.run(twice, tx -> "third")).isInstanceOf(CommandResult.Uncertain.class);
    }

    @Test
    void finishedStepsAreNotDoneAgainAndDownstreamKeysStayTheSame() throws Exception {
        AtomicInteger reserved = new AtomicInteger();
        AtomicReference<UUID> firstKey = new AtomicReference<>();
        assertThatThrownBy(() -> commands.lease(command("k"), lease -> {
                    firstKey.set(lease.downstreamKey("charge"));
                    lease.step("reserve", ResultCodecs.text(), () -> "r" + reserved.incrementAndGet());
                    throw new IllegalStateException("between two steps");
                }))
                .isInstanceOf(IllegalStateException.class);

        CommandResult<String> again = commands.lease(command("k"), lease -> {
            assertThat(lease.downstreamKey("charge")).isEqualTo(firstKey.get());
            assertThat(lease.downstreamKey("other")).isNotEqualTo(firstKey.get());
            return String.valueOf(lease.step("reserve", ResultCodecs.text(), () -> "r" + reserved.incrementAndGet()));
        });

        assertThat(again.orElseThrow()).isEqualTo("r1");
        assertThat(reserved).hasValue(1);
    }

    @Test
    void ownerThatWasReplacedCanNeitherBeginAnEffectNorKeepAStep() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicBoolean lost = new AtomicBoolean();
        Future<CommandResult<String>> zombie = threads.submit(() -> commands.lease(command("k"), lease -> {
            inside.countDown();
            goOn.await();
            assertThatThrownBy(lease::externalEffectStarted).isInstanceOf(CommandLostException.class);
            assertThatThrownBy(() -> lease.step("s", ResultCodecs.text(), () -> "late"))
                    .isInstanceOf(CommandLostException.class);
            lost.set(lease.isLost());
            return "zombie";
        }));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        expireLease();
        node(builder -> builder).commands().lease(command("k"), lease -> "heir");
        goOn.countDown();

        assertThat(zombie.get(PATIENCE, TimeUnit.SECONDS).orElseThrow()).isEqualTo("heir");
        assertThat(lost).isTrue();
    }

    /** The heartbeat extends the lease while the work takes much longer than one lease, and stops at the maximum run time. */
    @Test
    void heartbeatKeepsUpTheLeaseUntilTheLongestRunTime() throws Exception {
        Duration lease = Duration.ofSeconds(4);
        Command<String> slow = builder("k")
                .with(options -> options.lease(lease).maxRunTime(Duration.ofSeconds(9)))
                .returningText();
        Commands other = node(builder -> builder).commands();
        CountDownLatch inside = new CountDownLatch(1);
        Future<CommandResult<String>> running = threads.submit(() -> commands.run(slow, tx -> {
            inside.countDown();
            new CountDownLatch(1).await();
            return "never";
        }));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        long begun = System.nanoTime();

        // Repeats until this node gets the command. That must take longer than the lease would last without a
        // heartbeat.
        CommandResult<String> result = other.run(slow, tx -> "heir");
        while (!result.isCompleted()) {
            assertThat(System.nanoTime() - begun).isLessThan(TimeUnit.SECONDS.toNanos(PATIENCE));
            LockSupport.parkNanos(TRY_EVERY);
            result = other.run(slow, tx -> "heir");
        }

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(lease.multipliedBy(2));
        assertThat(result.orElseThrow()).isEqualTo("heir");
        assertThat(running.cancel(true)).isTrue();
    }

    /** Starts a leased command whose owner sends no heartbeat for longer than its lease. */
    private Zombie zombie(String key, boolean withEffect, Command<String> command) throws Exception {
        Zombie zombie = new Zombie(threads, node(builder -> builder).commands(), command, withEffect);
        assertThat(zombie.inside.await(PATIENCE, TimeUnit.SECONDS)).as(key).isTrue();
        expireLease();
        return zombie;
    }

    private static final class Zombie {
        private final CountDownLatch inside = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final AtomicReference<UUID> reference = new AtomicReference<>();
        private final Future<CommandResult<String>> result;

        Zombie(ExecutorService threads, Commands commands, Command<String> command, boolean withEffect) {
            result = threads.submit(() -> commands.lease(command, lease -> {
                if (withEffect) {
                    lease.externalEffectStarted();
                }
                reference.set(lease.reference());
                inside.countDown();
                goOn.await();
                return "zombie";
            }));
        }

        UUID reference() {
            return Objects.requireNonNull(reference.get());
        }

        CommandResult<String> end() throws Exception {
            goOn.countDown();
            return result.get(PATIENCE, TimeUnit.SECONDS);
        }
    }
}
