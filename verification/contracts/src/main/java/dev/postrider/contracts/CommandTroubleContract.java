package dev.postrider.contracts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.Postrider;
import dev.postrider.admin.CommandAdmin.Resolution;
import dev.postrider.admin.CommandAdmin.Resolved;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.PostriderException;
import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.idempotency.AesGcmCipher;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandOptions;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.InvalidCommandException;
import dev.postrider.idempotency.ResultCodec;
import dev.postrider.idempotency.ResultCodecs;
import dev.postrider.idempotency.UnreadableResultException;
import dev.postrider.internal.store.SweptCommands;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.message.MessageId;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.StatementHooks;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

/**
 * The contract of commands under faults: a connection breaks before or after each statement. Also results of every kind, stale keys,
 * sweeps, and the actions of operators.
 */
public abstract class CommandTroubleContract extends CommandFixture {

    private static final int MOST_STATEMENTS = 30;

    /** Opens a node whose connections break at the statement that the hooks select. */
    private Commands fragile(StatementHooks hooks) {
        return Postrider.on(hooks).topic(topic).build().commands();
    }

    @FunctionalInterface
    private interface Attempt {
        CommandResult<String> run(Commands on, Command<String> command) throws Exception;
    }

    /**
     * Breaks a connection before and after each statement, one at a time. Each time, another node must then complete the command with one
     * effect.
     */
    private int cutEverywhere(StatementHooks hooks, Attempt attempt) throws Exception {
        Commands fragile = fragile(hooks);
        int places = 0;
        for (int number = 1; number <= MOST_STATEMENTS; number++) {
            boolean any = false;
            for (boolean before : new boolean[] {true, false}) {
                String key = "k" + number + before;
                hooks.breakAt(number, before);
                try {
                    attempt.run(fragile, command(key));
                } catch (PostriderException | SQLException e) {
                    assertThat(e).isNotInstanceOf(AssertionError.class);
                }
                if (!hooks.disarm()) {
                    continue;
                }
                any = true;
                places++;
                expireLease();
                CommandResult<String> last = attempt.run(commands, command(key));
                assertThat(last.isCompleted())
                        .as("cut %s statement %s: %s", before ? "before" : "after", number, last)
                        .isTrue();
                assertThat(last.orElseThrow()).isEqualTo("done " + key);
                assertThat(effects().stream().filter(key::equals))
                        .as("cut %s statement %s", before ? "before" : "after", number)
                        .hasSize(1);
            }
            if (!any) {
                return places;
            }
        }
        throw new AssertionError("More statements than a command can have");
    }

    @Test
    void fencedCommandHasOneEffectWhereverItsConnectionBreaks() throws Exception {
        int places = cutEverywhere(
                new StatementHooks(dataSource()),
                (on, command) ->
                        on.run(command, tx -> effect(tx, command.identity().key())));
        assertThat(places).as("claim, work, end, commit: before and after each").isGreaterThanOrEqualTo(8);
    }

    @Test
    void joinedCommandHasOneEffectWhereverItsConnectionBreaks() throws Exception {
        StatementHooks hooks = new StatementHooks(dataSource());
        int places = cutEverywhere(hooks, (on, command) -> {
            try (Connection connection = hooks.getConnection()) {
                connection.setAutoCommit(false);
                CommandResult<String> result = on.join(
                        connection, command, tx -> effect(tx, command.identity().key()));
                connection.commit();
                return result;
            }
        });
        assertThat(places).isGreaterThanOrEqualTo(8);
    }

    @Test
    void commitWhoseAnswerIsLostIsFoundOutAndAnsweredAsDone() throws Exception {
        int answered = 0;
        StatementHooks hooks = new StatementHooks(dataSource());
        Commands fragile = fragile(hooks);
        for (int number = 1; number <= MOST_STATEMENTS; number++) {
            String key = "k" + number;
            hooks.breakAt(number, false);
            try {
                CommandResult<String> result = fragile.run(command(key), tx -> effect(tx, key));
                if (result.isCompleted() && !result.isReplayed() && hooks.disarm()) {
                    answered++;
                }
            } catch (PostriderException | SQLException e) {
                assertThat(e).hasMessageNotContaining(key);
            }
            if (!hooks.disarm()) {
                break;
            }
        }
        // The answer to the claim, which is repeated, and the answer to the commit, whose result is read from the row.
        assertThat(answered).isGreaterThanOrEqualTo(2);
        assertThat(effects()).doesNotHaveDuplicates();
    }

    @Test
    void leasedEffectHappensAtMostOnceWhereverTheConnectionBreaks() throws Exception {
        StatementHooks hooks = new StatementHooks(dataSource());
        Commands fragile = fragile(hooks);
        for (int number = 1; number <= MOST_STATEMENTS; number++) {
            boolean any = false;
            for (boolean before : new boolean[] {true, false}) {
                String key = "k" + number + before;
                AtomicInteger happened = new AtomicInteger();
                hooks.breakAt(number, before);
                try {
                    fragile.lease(command(key), lease -> {
                        lease.externalEffectStarted();
                        return "done " + happened.incrementAndGet();
                    });
                } catch (PostriderException e) {
                    assertThat(e).hasMessageNotContaining(key);
                }
                any |= hooks.disarm();
                expireLease();
                CommandResult<String> last = commands.lease(command(key), lease -> {
                    lease.externalEffectStarted();
                    return "done " + happened.incrementAndGet();
                });
                assertThat(happened).as("cut at %s %s", number, before).hasValueLessThanOrEqualTo(1);
                if (last.isCompleted()) {
                    assertThat(last.orElseThrow()).isEqualTo("done 1");
                } else {
                    assertThat(last).isInstanceOf(CommandResult.Uncertain.class);
                }
            }
            if (!any) {
                return;
            }
        }
        throw new AssertionError("More statements than a command can have");
    }

    /** A pool of one connection. It fails at once when the connection is in use, like a pool after its timeout. */
    private DataSource poolOfOne() {
        AtomicBoolean taken = new AtomicBoolean();
        return proxy(DataSource.class, dataSource(), (call, connection) -> {
            if (!call.getName().equals("getConnection")) {
                return connection.get();
            }
            if (taken.getAndSet(true)) {
                throw new SQLTransientConnectionException("The pool is empty");
            }
            return proxy(Connection.class, (Connection) connection.get(), (inner, answer) -> {
                Object answered = answer.get();
                if (inner.getName().equals("close")) {
                    taken.set(false);
                }
                return answered;
            });
        });
    }

    @FunctionalInterface
    private interface Answer {
        Object get() throws Throwable;
    }

    @FunctionalInterface
    private interface Around {
        Object call(Method method, Answer answer) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, T target, Around around) {
        return type.cast(Proxy.newProxyInstance(
                CommandTroubleContract.class.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> around.call(method, () -> {
                    try {
                        return method.invoke(target, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                })));
    }

    @Test
    void workThatTakesAConnectionOfItsOwnHoldsNoOther() throws Exception {
        DataSource pool = poolOfOne();
        Commands small = Postrider.on(pool).topic(topic).build().commands();
        CommandResult<String> own = small.run(command("own"), tx -> {
            try (Connection connection = pool.getConnection()) {
                insertEffect(connection, "own");
            }
            return "done " + tx.attempt();
        });
        assertThat(own.orElseThrow()).isEqualTo("done 1");
        CommandResult<String> joined = small.run(command("joined"), tx -> {
            insertEffect(tx.connection(), "joined");
            assertThat(tx.connection()).isSameAs(tx.connection());
            return "done";
        });
        assertThat(joined.orElseThrow()).isEqualTo("done");
        assertThat(effects()).containsExactly("joined", "own");
        assertThat(small.run(command("own"), tx -> "again").isReplayed()).isTrue();
    }

    @Test
    void connectionThatWasNotThereIsNotForgotten() throws Exception {
        DataSource pool = poolOfOne();
        Commands small = Postrider.on(pool).topic(topic).build().commands();
        assertThatThrownBy(() -> small.run(command("k"), tx -> {
                    try (Connection connection = pool.getConnection()) {
                        insertEffect(connection, "own");
                        assertThatThrownBy(() -> tx.stage(message().build()))
                                .isInstanceOf(StoreUnavailableException.class);
                    }
                    return "without its message";
                }))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(small.run(command("k"), tx -> "attempt " + tx.attempt()).orElseThrow())
                .isEqualTo("attempt 2");
    }

    @Test
    void transactionCannotBeUsedAfterItsWork() throws Exception {
        AtomicReference<CommandTransaction> kept = new AtomicReference<>();
        commands.run(command("k"), tx -> {
            kept.set(tx);
            return "done";
        });
        assertThatThrownBy(() -> Objects.requireNonNull(kept.get()).connection())
                .isInstanceOf(IllegalStateException.class);
    }

    // Waiting

    @Test
    void waitingCallerGetsTheResultOfAnotherNode() throws Exception {
        Command<String> patient = builder("k")
                .with(options -> options.waitForResult(Duration.ofSeconds(PATIENCE)))
                .returningText();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Future<CommandResult<String>> first = threads.submit(() -> commands.run(command("k"), tx -> {
            inside.countDown();
            goOn.await();
            return effect(tx, "a");
        }));
        assertThat(inside.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        Commands other = node(builder -> builder).commands();
        List<Future<CommandResult<String>>> waiting = new ArrayList<>();
        for (Commands on : List.of(commands, commands, other, other)) {
            waiting.add(threads.submit(() -> on.run(patient, tx -> effect(tx, "b"))));
        }
        goOn.countDown();

        assertThat(first.get(PATIENCE, TimeUnit.SECONDS).isReplayed()).isFalse();
        for (Future<CommandResult<String>> one : waiting) {
            CommandResult<String> result = one.get(PATIENCE, TimeUnit.SECONDS);
            assertThat(result.orElseThrow()).isEqualTo("done a");
            assertThat(result.isReplayed()).isTrue();
        }
        assertThat(effects()).containsExactly("a");
    }

    @Test
    void cachedResultIsComparedWithTheRequest() throws Exception {
        Commands cached = postrider(builder -> builder.topic(topic)).commands();
        cached.run(command("k"), tx -> effect(tx, "a"));
        execute("DELETE FROM postrider_command WHERE operation = '" + operation + "'");

        assertThat(cached.run(command("k"), tx -> effect(tx, "b")).orElseThrow())
                .as("from memory: its row is gone")
                .isEqualTo("done a");
        assertThat(cached.run(builder("k").fingerprint("another").returningText(), tx -> effect(tx, "c"))
                        .isReplayed())
                .isFalse();
        assertThat(effects()).containsExactly("a", "c");
    }

    // Results

    private Commands with(Consumer<CommandOptions.Builder> options) {
        return node(builder -> builder.commands(all -> options.accept(all.cacheBytes(0))))
                .commands();
    }

    @Test
    void largeResultIsCompressedOrOmittedButNeverRunAgain() throws Exception {
        String compressible = "ab".repeat(50_000);
        Command<String> small = command("compressible");
        commands.run(small, tx -> compressible);
        assertThat(commands.run(small, tx -> "again").orElseThrow()).isEqualTo(compressible);

        byte[] noise = new byte[100_000];
        new Random(1).nextBytes(noise);
        Command<byte[]> large = builder("noise").returningBytes();
        assertThat(commands.run(large, tx -> noise).orElseThrow()).isEqualTo(noise);
        assertThat(commands.run(large, tx -> new byte[0]))
                .isInstanceOfSatisfying(
                        CommandResult.ResultOmitted.class,
                        forgotten -> assertThat(forgotten.wasTooLarge()).isTrue());
        assertThat(with(options -> options.maxResultBytes(1 << 20))
                        .run(builder("more").returningBytes(), tx -> noise)
                        .orElseThrow())
                .isEqualTo(noise);
    }

    @Test
    void resultIsReadByTheCodecThatWroteIt() throws Exception {
        commands.run(command("k"), tx -> "text");

        assertThatThrownBy(() -> commands.run(builder("k").returningBytes(), tx -> new byte[0]))
                .isInstanceOf(UnreadableResultException.class)
                .hasMessageContaining("'text'");
    }

    /** The codec stores a reference, and builds the result from the current data when the result is read. */
    @Test
    void codecMayKeepAReferenceAndRebuildTheResult() throws Exception {
        ResultCodec<String> byDetail = new ResultCodec<>() {
            @Override
            public String name() {
                return "effect-by-detail";
            }

            @Override
            public byte[] encode(String result) {
                return result.substring("effect ".length()).getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String decode(byte[] bytes) {
                return "effect " + new String(bytes, StandardCharsets.UTF_8);
            }
        };
        Command<String> command = builder("k").returning(byDetail);
        commands.run(command, tx -> {
            effect(tx, "a");
            return "effect a";
        });
        assertThat(commands.run(command, tx -> "again").orElseThrow()).isEqualTo("effect a");
    }

    @Test
    void firstAnswerAndReplayAreTheSame() throws Exception {
        ResultCodec<String> lossy = new ResultCodec<>() {
            @Override
            public String name() {
                return "lossy";
            }

            @Override
            public byte[] encode(String result) {
                return result.strip().getBytes(StandardCharsets.UTF_8);
            }

            @Override
            public String decode(byte[] bytes) {
                return new String(bytes, StandardCharsets.UTF_8);
            }
        };
        Command<String> command = builder("k").returning(lossy);
        assertThat(commands.run(command, tx -> " value ").orElseThrow()).isEqualTo("value");
        assertThat(commands.run(command, tx -> "again").orElseThrow()).isEqualTo("value");
    }

    @Test
    void encryptedResultMeansNothingElsewhere() throws Exception {
        byte[] key = new byte[32];
        byte[] next = new byte[32];
        next[0] = 1;
        Commands sealed = with(options -> options.cipher(AesGcmCipher.with(1, key)));
        sealed.run(command("a"), tx -> "secret of a");
        sealed.run(command("b"), tx -> "secret of b");
        assertThat(sealed.run(command("a"), tx -> "again").orElseThrow()).isEqualTo("secret of a");
        Commands rotated =
                with(options -> options.cipher(AesGcmCipher.with(2, next).reading(1, key)));
        assertThat(rotated.run(command("a"), tx -> "again").orElseThrow()).isEqualTo("secret of a");
        assertThatThrownBy(() -> commands.run(command("a"), tx -> "again"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("no cipher");
        assertThatThrownBy(() -> with(options -> options.cipher(AesGcmCipher.with(2, next)))
                        .run(command("a"), tx -> "again"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("key 1");

        swapResults();
        assertThatThrownBy(() -> sealed.run(command("a"), tx -> "again"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("moved");
    }

    @Test
    void stepsAndReasonsAreEncryptedToo() throws Exception {
        Commands sealed = with(options -> options.cipher(AesGcmCipher.with(1, new byte[32])));
        AtomicInteger charged = new AtomicInteger();
        assertThatThrownBy(() -> sealed.lease(command("step"), lease -> {
                    lease.step("charge", ResultCodecs.text(), () -> "card-4711-" + charged.incrementAndGet());
                    throw new IllegalStateException("after the step");
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(stored("steps")).doesNotContain("card-4711");
        assertThat(sealed.lease(
                                command("step"),
                                lease -> String.valueOf(lease.step(
                                        "charge", ResultCodecs.text(), () -> "card-4711-" + charged.incrementAndGet())))
                        .orElseThrow())
                .isEqualTo("card-4711-1");

        execute("DELETE FROM postrider_command WHERE operation = '" + operation + "'");
        CommandResult<String> no = sealed.run(command("no"), tx -> {
            throw new CommandRejectedException("card-4711 has no money", "secret");
        });
        assertThat(((CommandResult.Rejected<String>) no).reason()).isEqualTo("card-4711 has no money");
        assertThat(row("reason")).doesNotContain("4711").startsWith("encrypted:");
        assertThat(sealed.run(command("no"), tx -> "yes"))
                .isInstanceOfSatisfying(CommandResult.Rejected.class, again -> {
                    assertThat(again.reason()).isEqualTo("card-4711 has no money");
                    assertThat(again.value()).isEqualTo("secret");
                });
        assertThatThrownBy(() -> commands.run(command("no"), tx -> "yes"))
                .isInstanceOf(UnreadableResultException.class)
                .hasMessageContaining("no cipher");
    }

    /** The bytes of a column, as characters. */
    private String stored(String column) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery(
                        "SELECT " + column + " FROM postrider_command WHERE operation = '" + operation + "'")) {
            row.next();
            return new String(row.getBytes(1), StandardCharsets.ISO_8859_1);
        }
    }

    /** An attacker with write access to the table can insert clear text. */
    @Test
    void clearTextIsRefusedByANodeWithACipher() throws Exception {
        commands.run(command("done"), tx -> "forged");
        commands.run(command("no"), tx -> {
            throw new CommandRejectedException("forged");
        });
        assertThatThrownBy(() -> commands.lease(command("step"), lease -> {
                    lease.step("charge", ResultCodecs.text(), () -> "forged");
                    throw new IllegalStateException("after the step");
                }))
                .isInstanceOf(IllegalStateException.class);
        Consumer<CommandOptions.Builder> cipher = options -> options.cipher(AesGcmCipher.with(1, new byte[32]));
        Commands sealed = with(cipher);
        for (String key : List.of("done", "no")) {
            assertThatThrownBy(() -> sealed.run(command(key), tx -> "again"))
                    .isInstanceOf(UnreadableResultException.class)
                    .hasMessageContaining("clear text");
        }
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> sealed.lease(command("step"), lease -> "again"))
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("clear text");
        }

        Commands migrating = with(cipher.andThen(CommandOptions.Builder::acceptClearText));
        assertThat(migrating.run(command("done"), tx -> "again").orElseThrow()).isEqualTo("forged");
        assertThat(migrating.run(command("no"), tx -> "again")).isInstanceOf(CommandResult.Rejected.class);
        assertThat(migrating
                        .lease(
                                command("step"),
                                lease -> String.valueOf(lease.step("charge", ResultCodecs.text(), () -> "again")))
                        .orElseThrow())
                .isEqualTo("forged");
    }

    /** Moves the bytes of one result into the other row of this test. */
    private void swapResults() throws SQLException {
        List<String> references = list("SELECT reference FROM postrider_command WHERE operation = '" + operation + "'");
        assertThat(references).hasSize(2);
        try (Connection connection = transaction();
                var statement = connection.createStatement()) {
            byte[][] results = new byte[2][];
            byte[][] ids = new byte[2][];
            try (var rows = statement.executeQuery(
                    "SELECT id, result FROM postrider_command WHERE operation = '" + operation + "'")) {
                for (int i = 0; rows.next(); i++) {
                    ids[i] = rows.getBytes(1);
                    results[i] = rows.getBytes(2);
                }
            }
            for (int i = 0; i < 2; i++) {
                try (var update = connection.prepareStatement("UPDATE postrider_command SET result = ? WHERE id = ?")) {
                    update.setBytes(1, results[1 - i]);
                    update.setBytes(2, ids[i]);
                    assertThat(update.executeUpdate()).isEqualTo(1);
                }
            }
            connection.commit();
        }
    }

    @Test
    void newSecretMakesNoOldRequestADifferentOne() throws Exception {
        byte[] secret = "0123456789abcdef".getBytes(StandardCharsets.UTF_8);
        byte[] newer = "fedcba9876543210".getBytes(StandardCharsets.UTF_8);
        commands.run(command("plain"), tx -> "a");
        Commands first = with(options -> options.secret(2, secret));
        assertThat(first.run(command("plain"), tx -> "again").orElseThrow()).isEqualTo("a");
        first.run(command("secret"), tx -> "b");
        Commands second = with(options -> options.secret(2, secret).secret(3, newer));
        assertThat(second.run(command("secret"), tx -> "again").orElseThrow()).isEqualTo("b");
        assertThat(second.run(builder("secret").fingerprint("other").returningText(), tx -> "again"))
                .isInstanceOf(CommandResult.Mismatch.class);
    }

    // Keys that contain their time

    @Test
    void staleKeyIsRefusedBeforeThereIsARecord() throws Exception {
        Consumer<Command.Options.Builder> strict = Command.Options.Builder::onlyRecentUuidV7Keys;
        commands.run(command("any"), tx -> "the database's time was seen");
        String fresh = MessageId.next().toString();
        assertThat(commands.run(builder(fresh).with(strict).returningText(), tx -> "a")
                        .orElseThrow())
                .isEqualTo("a");
        long dayAgo = (System.currentTimeMillis() - Duration.ofHours(25).toMillis()) << 16;
        long tomorrow = (System.currentTimeMillis() + Duration.ofHours(1).toMillis()) << 16;
        List<String> refused = List.of(
                UUID.randomUUID().toString(),
                "not-a-uuid",
                new UUID(dayAgo | 0x7000, 0x8000_0000_0000_0000L).toString(),
                new UUID(tomorrow | 0x7000, 0x8000_0000_0000_0000L).toString());
        for (String key : refused) {
            assertThatThrownBy(() -> commands.run(builder(key).with(strict).returningText(), tx -> "b"))
                    .isInstanceOf(InvalidCommandException.class)
                    .hasMessageNotContaining(key);
        }
        assertThat(query("SELECT COUNT(*) FROM postrider_command WHERE operation = '" + operation + "'"))
                .isEqualTo("2");
    }

    /** A key that was used before the time in it is accepted for longer than its row is kept. */
    @Test
    void keyFromTheNearFutureIsNotRunTwice() throws Exception {
        Duration ttl = Duration.ofHours(24);
        commands.run(command("any"), tx -> "the database's time was seen");
        long made = System.currentTimeMillis() - ttl.minusMinutes(3).toMillis();
        String key = new UUID((made << 16) | 0x7000, 0x8000_0000_0000_0000L).toString();
        Command<String> command =
                builder(key).with(Command.Options.Builder::onlyRecentUuidV7Keys).returningText();
        commands.run(command, tx -> effect(tx, "a"));
        // as if the command had run four minutes before the time in the key
        execute(agedBy(ttl.plusMinutes(1)));

        CommandResult<String> again = commands.run(command, tx -> effect(tx, "b"));

        assertThat(again).isInstanceOf(CommandResult.ResultOmitted.class);
        assertThat(effects()).containsExactly("a");
    }

    private String agedBy(Duration age) throws SQLException {
        String product;
        try (Connection connection = dataSource().getConnection()) {
            product = connection.getMetaData().getDatabaseProductName();
        }
        String minus = switch (product) {
            case "PostgreSQL" -> "%1$s = %1$s - interval '" + age.toSeconds() + " seconds'";
            case "H2" -> "%1$s = DATEADD(SECOND, -" + age.toSeconds() + ", %1$s)";
            default -> "%1$s = %1$s - INTERVAL " + age.toSeconds() + " SECOND";
        };
        return "UPDATE postrider_command SET " + minus.formatted("key_expires_at") + ", "
                + minus.formatted("result_expires_at") + " WHERE operation = '" + operation + "'";
    }

    @Test
    void charactersOutsideTheBasicPlaneAreTaken() throws Exception {
        String smile = "\uD83D\uDE00";
        Command<String> command = Command.named(operation + smile)
                .tenant("t" + smile)
                .caller("c" + smile)
                .key(smile.repeat(8))
                .fingerprint("")
                .returningText();
        assertThat(commands.run(command, tx -> smile).orElseThrow()).isEqualTo(smile);
        CommandResult<String> replay = commands.run(command, tx -> "again");
        assertThat(replay.orElseThrow()).isEqualTo(smile);
        UUID reference = ((CommandResult.Completed<String>) replay).reference();
        assertThat(postrider.admin().commands().find(reference))
                .hasValueSatisfying(stored -> assertThat(stored.keyPrefix()).isEqualTo(smile.repeat(2)));
        assertThatThrownBy(() -> builder(smile.substring(1)).returningText())
                .isInstanceOf(InvalidCommandException.class);
    }

    // Sweeping

    private SweptCommands sweep(int limit) {
        return JdbcDatabase.open(dataSource(), TableOptions.defaults(), Duration.ofSeconds(PATIENCE), event -> {})
                .retention()
                .sweepCommands(limit);
    }

    @Test
    void sweepForgetsInTwoStagesAndLeavesLiveAndUncertainOnesAlone() throws Exception {
        sweep(1000);
        commands.run(command("done"), tx -> effect(tx, "a"));
        claimed("running");
        moveBack("result_expires_at");

        assertThat(sweep(10)).isEqualTo(new SweptCommands(1, 0, 0));
        assertThat(commands.run(command("done"), tx -> effect(tx, "b")))
                .isInstanceOf(CommandResult.ResultOmitted.class);

        moveBack("key_expires_at");
        assertThat(sweep(10)).as("the running one stays").isEqualTo(new SweptCommands(0, 1, 0));
        assertThat(row("state")).isEqualTo("IN_PROGRESS");

        execute("UPDATE postrider_command SET uncertain_if_lost = TRUE WHERE operation = '" + operation + "'");
        expireLease();
        assertThat(sweep(10)).isEqualTo(new SweptCommands(0, 0, 1));
        assertThat(row("state")).isEqualTo("UNCERTAIN");
        assertThat(sweep(10)).as("an uncertain one is never purged").isEqualTo(new SweptCommands(0, 0, 0));
    }

    @Test
    void sweepGoesInChunks() throws Exception {
        sweep(1000);
        for (int i = 0; i < 5; i++) {
            commands.run(command("k" + i), tx -> "r");
        }
        moveBack("result_expires_at");
        moveBack("key_expires_at");

        assertThat(sweep(3)).isEqualTo(new SweptCommands(3, 3, 0));
        assertThat(sweep(3).removed()).isEqualTo(2);
        assertThat(row("state")).isEqualTo("none");
    }

    // Operators

    @Test
    void operatorEndsTheUncertaintyOnceAndIsRecorded() throws Exception {
        for (Resolution resolution : Resolution.values()) {
            String key = resolution.name();
            commands.run(command(key), tx -> "r");
            UUID reference = ((CommandResult.Completed<String>) commands.run(command(key), tx -> "r")).reference();
            assertThat(postrider.admin().commands().resolve(reference, resolution, "ada"))
                    .isEqualTo(Resolved.NOT_OPEN);
            execute("UPDATE postrider_command SET state = 'UNCERTAIN' WHERE operation = '" + operation
                    + "' AND state = 'COMPLETED' AND fence = 1");
            assertThat(postrider.admin().commands().uncertain(1000))
                    .anyMatch(command -> command.reference().equals(reference));

            assertThat(postrider.admin().commands().resolve(reference, resolution, "ada"))
                    .isEqualTo(Resolved.DONE);
            assertThat(postrider.admin().commands().resolve(reference, resolution, "bob"))
                    .isIn(Resolved.NOT_OPEN, Resolved.NOT_FOUND);

            CommandResult<String> next = commands.run(command(key), tx -> "again");
            switch (resolution) {
                case COMPLETED -> assertThat(next).isInstanceOf(CommandResult.ResultOmitted.class);
                case FAILED -> assertThat(next).isEqualTo(new CommandResult.Completed<>(reference, "again", false));
                case RELEASED ->
                    assertThat(((CommandResult.Completed<String>) next).reference())
                            .isNotEqualTo(reference);
            }
            execute("UPDATE postrider_command SET fence = fence + 10 WHERE operation = '" + operation + "'");
        }
        assertThat(list("SELECT action FROM postrider_audit WHERE topic = '" + operation + "' ORDER BY id"))
                .containsExactly("COMMAND_COMPLETED", "COMMAND_FAILED", "COMMAND_RELEASED");
        assertThat(postrider.admin().commands().resolve(UUID.randomUUID(), Resolution.FAILED, "ada"))
                .isEqualTo(Resolved.NOT_FOUND);
    }

    @Test
    void operatorMustBeNamed() throws Exception {
        claimed("k");
        expireLease();
        UUID reference = postrider.admin().commands().stuck(1000).stream()
                .filter(command -> command.operation().equals(operation))
                .findFirst()
                .orElseThrow()
                .reference();
        for (String unnamed : List.of("", "  ", "x".repeat(256))) {
            assertThatThrownBy(() -> postrider.admin().commands().resolve(reference, Resolution.FAILED, unnamed))
                    .isInstanceOf(InvalidConfigurationException.class)
                    .hasMessageContaining("operator");
        }
        assertThat(row("state")).isEqualTo("IN_PROGRESS");
    }

    @Test
    void stuckCommandsAreListed() throws Exception {
        claimed("k");
        assertThat(postrider.admin().commands().stuck(1000))
                .noneMatch(command -> command.operation().equals(operation));
        expireLease();
        assertThat(postrider.admin().commands().stuck(1000))
                .filteredOn(command -> command.operation().equals(operation))
                .singleElement()
                .satisfies(command -> {
                    assertThat(command.stuck()).isTrue();
                    assertThat(postrider.admin().commands().find(command.reference()))
                            .contains(command);
                });
    }

    @Test
    void leasedResultThatCannotBeEncodedIsNotRunAgain() {
        ResultCodec<String> broken = new ResultCodec<>() {
            @Override
            public String name() {
                return "text";
            }

            @Override
            public byte[] encode(String result) {
                throw new IllegalStateException("cannot");
            }

            @Override
            public String decode(byte[] bytes) {
                return ResultCodecs.text().decode(bytes);
            }
        };
        AtomicInteger calls = new AtomicInteger();
        Command<String> command = builder("k").returning(broken);
        assertThatThrownBy(() -> commands.lease(command, lease -> "call " + calls.incrementAndGet()))
                .isInstanceOf(IllegalStateException.class);
        assertThat(commands.lease(command, lease -> "call " + calls.incrementAndGet()))
                .isInstanceOf(CommandResult.ResultOmitted.class);
        assertThat(calls).hasValue(1);
    }
}
