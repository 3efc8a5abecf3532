package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.event.Event;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandLostException;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.Commands;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * The contract of commands: a command runs once, and every retry gets its result. It covers states, owners and fences, times, and
 * commands that send messages.
 */
public abstract class CommandContract extends CommandFixture {

    // States

    @Test
    void firstCallerRunsAndRetriesGetTheSameResult() throws Exception {
        CommandResult<String> first = commands.run(command("k"), tx -> effect(tx, "a"));
        CommandResult<String> second = commands.run(command("k"), tx -> effect(tx, "b"));

        assertThat(first.orElseThrow()).isEqualTo("done a");
        assertThat(first.isReplayed()).isFalse();
        assertThat(second.orElseThrow()).isEqualTo("done a");
        assertThat(second.isReplayed()).isTrue();
        assertThat(effects()).containsExactly("a");
        assertThat(row("state")).isEqualTo("COMPLETED");
        assertThat(events(Event.CommandReplayed.class)).hasSize(1);
    }

    @Test
    void resultIsReplayedByAnotherProcess() throws Exception {
        commands.run(command("k"), tx -> effect(tx, "a"));
        CommandResult<String> replayed = node(builder -> builder).commands().run(command("k"), tx -> effect(tx, "b"));

        assertThat(replayed.orElseThrow()).isEqualTo("done a");
        assertThat(replayed.isReplayed()).isTrue();
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void failedCommandIsRolledBackAndRunsAgain() throws Exception {
        assertThatThrownBy(() -> commands.run(command("k"), tx -> {
                    effect(tx, "a");
                    throw new IllegalStateException("password=hunter2 \u0000 broken");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(effects()).isEmpty();
        assertThat(row("state")).isEqualTo("FAILED");
        assertThat(row("reason")).contains("broken").doesNotContain("hunter2");
        String reference = row("reference");

        CommandResult<String> again = commands.run(command("k"), tx -> effect(tx, "b" + tx.attempt()));

        assertThat(again.orElseThrow()).isEqualTo("done b2");
        assertThat(again.isReplayed()).isFalse();
        assertThat(effects()).containsExactly("b2");
        assertThat(row("fence")).isEqualTo("2");
        assertThat(row("reference")).isEqualTo(reference);
    }

    @Test
    void whatTheWorkThrowsComesOutAsItWas() {
        SQLException thrown = new SQLException("mine", "99999");
        assertThatThrownBy(() -> commands.run(command("k"), tx -> {
                    throw thrown;
                }))
                .isSameAs(thrown);
    }

    @Test
    void errorOfTheWorkComesOutAsItWasAndTheCommandRunsAgain() throws Exception {
        AssertionError thrown = new AssertionError("mine");
        assertThatThrownBy(() -> commands.run(command("k"), tx -> {
                    effect(tx, "a");
                    throw thrown;
                }))
                .isSameAs(thrown);
        assertThat(commands.run(command("k"), tx -> effect(tx, "b")).orElseThrow())
                .isEqualTo("done b");
        assertThat(effects()).containsExactly("b");
    }

    @Test
    void rejectionIsRolledBackAndKept() throws Exception {
        CommandResult<String> first = commands.run(command("k"), tx -> {
            effect(tx, "a");
            throw new CommandRejectedException("no funds", "balance 0");
        });
        CommandResult<String> second = commands.run(command("k"), tx -> effect(tx, "b"));

        assertThat(first).isInstanceOfSatisfying(CommandResult.Rejected.class, no -> {
            assertThat(no.reason()).isEqualTo("no funds");
            assertThat(no.value()).isEqualTo("balance 0");
            assertThat(no.replayed()).isFalse();
        });
        assertThat(second).isInstanceOfSatisfying(CommandResult.Rejected.class, no -> {
            assertThat(no.reason()).isEqualTo("no funds");
            assertThat(no.value()).isEqualTo("balance 0");
            assertThat(no.replayed()).isTrue();
        });
        assertThat(effects()).isEmpty();
    }

    @Test
    void callerDuringTheRunIsToldThatItIsInProgress() throws Exception {
        claimed("k");
        CommandResult<String> second = node(builder -> builder).commands().run(command("k"), tx -> effect(tx, "b"));

        assertThat(second).isInstanceOfSatisfying(CommandResult.InProgress.class, busy -> {
            assertThat(busy.reference()).isNotNull();
            assertThat(busy.retryAfter()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(38));
        });
        assertThat(effects()).isEmpty();
        assertThat(events(Event.CommandConflict.class)).hasSize(1);
    }

    @Test
    void sameKeyForAnotherRequestIsAMismatchInEveryStateAndChangesNothing() throws Exception {
        Command<String> other = builder("k").fingerprint("{\"amount\":2}").returningText();
        commands.run(command("k"), tx -> effect(tx, "a"));
        String before = row("updated_at");
        assertThat(commands.run(other, tx -> effect(tx, "b"))).isInstanceOf(CommandResult.Mismatch.class);
        assertThat(row("updated_at")).isEqualTo(before);

        for (String state : List.of("FAILED", "IN_PROGRESS", "UNCERTAIN")) {
            execute("UPDATE postrider_command SET state = '" + state + "', lease_until = created_at WHERE operation = '"
                    + operation + "'");
            assertThat(commands.run(other, tx -> effect(tx, "b"))).as(state).isInstanceOf(CommandResult.Mismatch.class);
        }
        assertThat(effects()).containsExactly("a");
        assertThat(row("fence")).isEqualTo("1");
    }

    @Test
    void tenantsCallersAndOperationsHaveKeysOfTheirOwn() throws Exception {
        List<Command<String>> all = List.of(
                builder("k").returningText(),
                builder("k").tenant("t1").returningText(),
                builder("k").tenant("t2").returningText(),
                Command.named(operation).caller("bob").key("k").fingerprint("").returningText(),
                Command.named(operation).anyCaller().key("k").fingerprint("").returningText(),
                Command.named(operation).caller("K").key("k").fingerprint("").returningText(),
                Command.named(operation).caller("k").key("K").fingerprint("").returningText(),
                Command.named(operation).caller("k").key("k ").fingerprint("").returningText(),
                Command.named(operation + "k")
                        .caller("a")
                        .key("")
                        .key("k")
                        .fingerprint("")
                        .returningText());
        for (int i = 0; i < all.size(); i++) {
            String detail = "d" + i;
            assertThat(commands.run(all.get(i), tx -> effect(tx, detail)).isReplayed())
                    .as("%s", i)
                    .isFalse();
        }
        assertThat(effects()).hasSize(all.size());
    }

    @Test
    void keyIsNowhereInTheTable() throws Exception {
        commands.run(command("a-secret-key-of-32-characters-abc"), tx -> effect(tx, "a"));
        commands.run(builder("short").fingerprint("other").returningText(), tx -> effect(tx, "b"));

        assertThat(list("SELECT key_prefix FROM postrider_command WHERE operation = '" + operation + "'"))
                .containsExactlyInAnyOrder("a-secret", "s");
    }

    // Owners and fences

    @Test
    void lostCommandIsTakenOverAndTheZombieRollsBack() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Future<CommandResult<String>> zombie = threads.submit(() -> commands.run(command("k"), tx -> {
            inside.countDown();
            goOn.await();
            return effect(tx, "zombie");
        }));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        expireLease();

        CommandResult<String> heir =
                node(builder -> builder).commands().run(command("k"), tx -> effect(tx, "heir" + tx.attempt()));
        goOn.countDown();

        assertThat(heir.orElseThrow()).isEqualTo("done heir2");
        assertThat(zombie.get(PATIENCE, TimeUnit.SECONDS))
                .as("the result of the node that took over")
                .isEqualTo(new CommandResult.Completed<>(
                        ((CommandResult.Completed<String>) heir).reference(), "done heir2", true));
        assertThat(effects()).containsExactly("heir2");
        assertThat(events(Event.CommandTakenOver.class)).hasSize(1);
        assertThat(events(Event.CommandLost.class)).hasSize(1);
    }

    @Test
    void zombieWhoseHeirIsStillAtItIsToldThatItLost() throws Exception {
        CountDownLatch inside = new CountDownLatch(2);
        CountDownLatch zombieGoesOn = new CountDownLatch(1);
        CountDownLatch heirGoesOn = new CountDownLatch(1);
        Future<CommandResult<String>> zombie = threads.submit(() -> commands.run(command("k"), tx -> {
            inside.countDown();
            zombieGoesOn.await();
            return "zombie";
        }));
        awaitCount(inside, 1);
        expireLease();
        Commands other = node(builder -> builder).commands();
        Future<CommandResult<String>> heir = threads.submit(() -> other.run(command("k"), tx -> {
            inside.countDown();
            heirGoesOn.await();
            return effect(tx, "heir");
        }));
        awaitCount(inside, 0);
        zombieGoesOn.countDown();

        assertThatThrownBy(() -> zombie.get(PATIENCE, TimeUnit.SECONDS)).hasCauseInstanceOf(CommandLostException.class);
        heirGoesOn.countDown();
        assertThat(heir.get(PATIENCE, TimeUnit.SECONDS).orElseThrow()).isEqualTo("done heir");
        assertThat(effects()).containsExactly("heir");
    }

    /** Spins until the latch has this count or less; fails after {@link #PATIENCE}. */
    private static void awaitCount(CountDownLatch latch, long count) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        while (latch.getCount() > count) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
    }

    @Test
    void zombieThatFailsDoesNotTouchItsHeirsRecord() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Future<CommandResult<String>> zombie = threads.submit(() -> commands.run(command("k"), tx -> {
            inside.countDown();
            goOn.await();
            throw new IllegalStateException("late");
        }));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        expireLease();
        node(builder -> builder).commands().run(command("k"), tx -> effect(tx, "heir"));
        goOn.countDown();

        assertThatThrownBy(() -> zombie.get(PATIENCE, TimeUnit.SECONDS))
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThat(row("state")).isEqualTo("COMPLETED");
        assertThat(effects()).containsExactly("heir");
    }

    @Test
    void lostCommandIsNotTakenOverByAnotherRequest() throws Exception {
        claimed("k");
        expireLease();

        CommandResult<String> thief = node(builder -> builder)
                .commands()
                .run(builder("k").fingerprint("another").returningText(), tx -> effect(tx, "thief"));

        assertThat(thief).isInstanceOf(CommandResult.Mismatch.class);
        assertThat(row("fence")).isEqualTo("1");
    }

    @Test
    void failedCommandIsRetriedByExactlyOneOfMany() throws Exception {
        needsConcurrency();
        assertThatThrownBy(() -> commands.run(command("k"), tx -> {
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);

        assertOneOf(8, (node, i) -> node.run(command("k"), tx -> effect(tx, "retry")));

        assertThat(effects()).containsExactly("retry");
        assertThat(row("attempts")).isEqualTo("2");
    }

    @Test
    void lostCommandIsTakenOverByExactlyOneOfMany() throws Exception {
        needsConcurrency();
        claimed("k");
        expireLease();

        assertOneOf(8, (node, i) -> node.run(command("k"), tx -> effect(tx, "heir")));

        assertThat(effects()).containsExactly("heir");
        assertThat(row("fence")).isEqualTo("2");
    }

    @Test
    void newCommandIsRunByExactlyOneOfManyNodes() throws Exception {
        needsConcurrency();

        assertOneOf(8, (node, i) -> node.run(command("k"), tx -> effect(tx, "first")));

        assertThat(effects()).containsExactly("first");
        assertThat(row("fence")).isEqualTo("1");
    }

    @FunctionalInterface
    private interface Call {
        CommandResult<String> on(Commands node, int number) throws Exception;
    }

    /** Runs each call on a separate node, so that only the database coordinates the calls. */
    private void assertOneOf(int callers, Call call) throws Exception {
        CyclicBarrier together = new CyclicBarrier(callers);
        AtomicInteger ran = new AtomicInteger();
        List<Future<?>> all = new CopyOnWriteArrayList<>();
        for (int i = 0; i < callers; i++) {
            int number = i;
            Commands node = node(builder -> builder).commands();
            all.add(threads.submit(() -> {
                together.await(PATIENCE, TimeUnit.SECONDS);
                CommandResult<String> result = call.on(node, number);
                if (result.isCompleted() && !result.isReplayed()) {
                    ran.incrementAndGet();
                } else {
                    assertThat(result).isInstanceOfAny(CommandResult.Completed.class, CommandResult.InProgress.class);
                }
                return null;
            }));
        }
        for (Future<?> one : all) {
            one.get(PATIENCE, TimeUnit.SECONDS);
        }
        assertThat(ran).hasValue(1);
    }

    // Times

    @Test
    void keyPastItsTimeIsNewAndTheFenceGoesOn() throws Exception {
        commands.run(command("k"), tx -> effect(tx, "a"));
        String reference = row("reference");
        moveBack("key_expires_at");

        CommandResult<String> anew =
                commands.run(builder("k").fingerprint("another").returningText(), tx -> effect(tx, "b" + tx.attempt()));

        assertThat(anew.isReplayed()).isFalse();
        assertThat(effects()).containsExactly("a", "b1");
        assertThat(row("fence")).isEqualTo("2");
        assertThat(row("reference")).isNotEqualTo(reference);
    }

    @Test
    void keyPastItsTimeIsNotNewWhileItsOwnerLives() throws Exception {
        claimed("k");
        moveBack("key_expires_at");

        assertThat(node(builder -> builder).commands().run(command("k"), tx -> effect(tx, "b")))
                .isInstanceOf(CommandResult.InProgress.class);
        assertThat(effects()).isEmpty();
    }

    @Test
    void resultPastItsTimeIsForgottenButTheCommandDoesNotRunAgain() throws Exception {
        commands.run(command("k"), tx -> effect(tx, "a"));
        moveBack("result_expires_at");

        CommandResult<String> late = commands.run(command("k"), tx -> effect(tx, "b"));

        assertThat(late)
                .isInstanceOfSatisfying(
                        CommandResult.ResultOmitted.class,
                        forgotten -> assertThat(forgotten.wasTooLarge()).isFalse());
        assertThat(effects()).containsExactly("a");
    }

    // Commands that send messages

    @Test
    void messagesBusinessRowsAndResultCommitTogether() throws Exception {
        commands.run(command("k"), tx -> {
            tx.stage(message().build());
            return effect(tx, "a");
        });
        assertThat(live()).isEqualTo(1);

        assertThatThrownBy(() -> commands.run(command("other"), tx -> {
                    tx.stage(message().build());
                    effect(tx, "b");
                    throw new IllegalStateException();
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(live()).isEqualTo(1);
        assertThat(effects()).containsExactly("a");
    }
}
