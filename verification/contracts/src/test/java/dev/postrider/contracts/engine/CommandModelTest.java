package dev.postrider.contracts.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOutcome.ResultKind;
import dev.postrider.internal.store.CommandOutcome.StoredResult;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandPrint;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandRecord.State;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.jdbc.JdbcDatabase;
import dev.postrider.store.TableOptions;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Claims, ends, failures, take-overs and sweeps in random order, by owners old and new, against a model of one command that fits on a
 * page. Whatever the database lets happen the model must allow, and the other way round.
 */
final class CommandModelTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final int RUNS = 15;
    private static final int STEPS = 50;

    @ParameterizedTest
    @EnumSource(Engine.class)
    void everyInterleavingIsOneThatTheModelAllows(Engine engine) throws SQLException {
        try (HikariDataSource dataSource = pool(Databases.assumeStarted(engine).createDatabase("model"))) {
            JdbcDatabase database =
                    JdbcDatabase.open(dataSource, TableOptions.defaults(), Duration.ofSeconds(60), event -> {});
            database.migrate();
            long seed = Long.getLong("postrider.model.seed", System.nanoTime());
            for (int run = 0; run < RUNS; run++) {
                new Run(database, dataSource, new Random(seed + run), "seed " + seed + " run " + run).steps();
            }
        }
    }

    private static HikariDataSource pool(Database database) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        return new HikariDataSource(config);
    }

    private static final class Run {

        private final CommandStore store;
        private final JdbcDatabase database;
        private final DataSource dataSource;
        private final Random random;
        private final String name;
        private final CommandId id;
        private final List<CommandOwner> owners = new ArrayList<>();
        private final List<CommandRecord> seen = new ArrayList<>();

        // The model
        private boolean there;
        private State state = State.FAILED;
        private CommandOwner owner;
        private boolean leased;
        private boolean careful;
        private boolean keyOver;
        private int attempts;

        Run(JdbcDatabase database, DataSource dataSource, Random random, String name) {
            this.store = database.commands();
            this.database = database;
            this.dataSource = dataSource;
            this.random = random;
            this.name = name;
            byte[] hash = new byte[32];
            random.nextBytes(hash);
            this.id = new CommandId(hash);
            this.owner = new CommandOwner(id, UUID.randomUUID(), 0);
        }

        void steps() throws SQLException {
            for (int step = 0; step < STEPS; step++) {
                String at = name + " step " + step;
                switch (random.nextInt(11)) {
                    case 0, 1 -> claim(at);
                    case 2, 3 -> take(at);
                    case 4 -> end(at, true);
                    case 5 -> end(at, false);
                    case 6 -> markUncertain(at);
                    case 7 -> expireLease();
                    case 8 -> expireKey();
                    case 9 -> renew(at);
                    default -> sweep(at);
                }
                compare(at);
            }
        }

        private CommandClaim newClaim(boolean uncertainIfLost) {
            return new CommandClaim(
                    id,
                    new CommandClaim.Names("model", null, null, ""),
                    new CommandPrint(1, new byte[32]),
                    UUID.randomUUID(),
                    UUID.randomUUID(),
                    HOUR,
                    HOUR,
                    uncertainIfLost);
        }

        private void claim(String at) {
            CommandClaim claim = newClaim(random.nextInt(4) == 0);
            CommandRecord row = store.claim(claim);
            if (!there) {
                owns(row.owner(), claim, 1);
                assertThat(row.owner()).as(at).isEqualTo(new CommandOwner(id, claim.owner(), 1));
                there = true;
            }
            assertThat(row.owner()).as(at).isEqualTo(owner);
            seen.add(row);
        }

        /** Acts on a row that was read, perhaps long ago. */
        private void take(String at) {
            if (seen.isEmpty()) {
                return;
            }
            CommandRecord found = seen.get(random.nextInt(seen.size()));
            CommandClaim claim = newClaim(random.nextInt(4) == 0);
            Optional<CommandRecord> taken = store.take(claim, found);
            boolean lost = state == State.IN_PROGRESS && !leased && !careful;
            boolean same = there && found.owner().equals(owner);
            boolean allowed = same
                    && (found.isOver()
                            ? keyOver && (state == State.COMPLETED || state == State.FAILED || lost)
                            : state == State.FAILED || lost);
            assertThat(taken.isPresent()).as(at).isEqualTo(allowed);
            if (allowed) {
                CommandOwner before = owner;
                owns(taken.get().owner(), claim, found.isOver() ? 1 : attempts + 1);
                assertThat(owner).as(at).isEqualTo(new CommandOwner(id, claim.owner(), before.fence() + 1));
                seen.add(taken.get());
            }
        }

        private void owns(CommandOwner next, CommandClaim claim, int attempt) {
            owner = next;
            owners.add(next);
            state = State.IN_PROGRESS;
            leased = true;
            keyOver = false;
            careful = claim.uncertainIfLost();
            attempts = attempt;
        }

        private void end(String at, boolean well) {
            if (owners.isEmpty()) {
                return;
            }
            CommandOwner who = owners.get(random.nextInt(owners.size()));
            boolean met = well
                    ? store.complete(
                            who, new CommandOutcome(false, StoredResult.without(ResultKind.NONE), null, HOUR, HOUR))
                    : store.fail(who, "error", 0);
            boolean allowed = there && who.equals(owner) && (state == State.IN_PROGRESS || state == State.UNCERTAIN);
            assertThat(met).as(at).isEqualTo(allowed);
            if (allowed) {
                state = well ? State.COMPLETED : State.FAILED;
                keyOver &= !well;
            }
        }

        private void markUncertain(String at) {
            if (seen.isEmpty()) {
                return;
            }
            CommandRecord found = seen.get(random.nextInt(seen.size()));
            boolean allowed = there && found.owner().equals(owner) && state == State.IN_PROGRESS && !leased;
            assertThat(store.markUncertain(found)).as(at).isEqualTo(allowed);
            if (allowed) {
                state = State.UNCERTAIN;
            }
        }

        private void renew(String at) {
            if (owners.isEmpty()) {
                return;
            }
            Set<CommandOwner> lost = store.renew(Set.copyOf(owners));
            boolean held = there && (state == State.IN_PROGRESS || state == State.UNCERTAIN);
            assertThat(lost.contains(owner)).as(at).isEqualTo(!held);
            assertThat(lost).as(at).hasSize(owners.size() - (held ? 1 : 0));
            leased |= held && state == State.IN_PROGRESS;
        }

        private void sweep(String at) {
            database.retention().sweepCommands(100);
            if (there && state == State.IN_PROGRESS && !leased && careful) {
                state = State.UNCERTAIN;
            }
            boolean lost = state == State.IN_PROGRESS && !leased && !careful;
            if (there && keyOver && (state == State.COMPLETED || state == State.FAILED || lost)) {
                there = false; // but owners and those who saw it still come
            }
            assertThat(store.find(id).isPresent()).as(at).isEqualTo(there);
        }

        private void expireLease() throws SQLException {
            execute("UPDATE postrider_command SET lease_until = created_at");
            leased = false;
        }

        private void expireKey() throws SQLException {
            execute("UPDATE postrider_command SET key_expires_at = created_at");
            keyOver = there;
        }

        private void compare(String at) {
            Optional<CommandRecord> row = store.find(id);
            assertThat(row.isPresent()).as(at).isEqualTo(there);
            row.ifPresent(found -> {
                assertThat(found.state()).as(at).isEqualTo(state);
                assertThat(found.owner()).as(at).isEqualTo(owner);
                assertThat(found.attempts()).as(at).isEqualTo(attempts);
            });
        }

        private void execute(String sql) throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.executeUpdate(sql);
            }
        }
    }
}
