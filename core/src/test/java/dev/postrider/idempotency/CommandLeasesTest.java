package dev.postrider.idempotency;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.internal.MovedClock;
import dev.postrider.internal.store.CommandClaim;
import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandOutcome;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.outbox.UnitOfWork;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class CommandLeasesTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration STATEMENT = Duration.ofSeconds(2);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private final MovedClock time = new MovedClock();
    private final SlowStore store = new SlowStore();
    private final Command<Void> command = Command.named("op")
            .anyCaller()
            .key("k")
            .fingerprint("f")
            .with(options -> options.lease(LEASE))
            .returningNothing();

    private CommandLeases.RunningLease lease() {
        Unused background = new Unused();
        ResultEncoding results = new ResultEncoding(CommandOptions.defaults());
        CommandClaimer claimer = new CommandClaimer(
                store, new ProbeRunner(store, results, background, time), new DatabaseTime(time), time, event -> {});
        CommandRequest<Void> request = CommandRequest.of(command, new Fingerprints(Map.of()));
        if (claimer.claim(request, false) instanceof CommandClaimResult.Claimed claimed) {
            return new CommandLeases(store, background, time::nanos).begin(claimed, command.options());
        }
        throw new AssertionError("not claimed");
    }

    @Test
    void firstLeaseCountsFromBeforeItsClaim() {
        CommandLeases.RunningLease lease = lease();

        time.pass(LEASE.minus(STATEMENT).minus(MOMENT));
        assertThat(lease.isLost()).isFalse();
        time.pass(MOMENT);
        assertThat(lease.isLost()).isTrue();
    }

    /** The first statement may have made the lease. */
    @Test
    void leaseOfAClaimWithoutAResponseCountsFromBeforeTheFirstStatement() {
        store.lostResponses = 1;

        CommandLeases.RunningLease lease = lease();

        time.pass(LEASE.minus(STATEMENT.multipliedBy(2)));
        assertThat(lease.isLost()).isTrue();
    }

    /** Commands of which each claim takes a while. */
    private final class SlowStore implements CommandStore {

        private int lostResponses;

        @Override
        public CommandRecord claim(CommandClaim claim) {
            time.pass(STATEMENT);
            if (lostResponses-- > 0) {
                throw new StoreUnavailableException("The response is lost", new IOException("as the test asked"));
            }
            return new CommandRecord(
                    new CommandOwner(claim.id(), claim.owner(), 1),
                    claim.reference(),
                    CommandRecord.State.IN_PROGRESS,
                    claim.print(),
                    1,
                    false,
                    null,
                    null,
                    claim.lease(),
                    claim.keyTtl(),
                    null,
                    Instant.EPOCH);
        }

        @Override
        public Optional<CommandRecord> take(CommandClaim claim, CommandRecord found) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<CommandRecord> find(CommandId id) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean complete(CommandOwner owner, CommandOutcome outcome) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean fail(CommandOwner owner, String error, int maxAttempts) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean markUncertain(CommandRecord found) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Set<CommandOwner> renew(Collection<CommandOwner> owners) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean startEffect(CommandOwner owner, boolean uncertainIfLost) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean saveSteps(CommandOwner owner, CommandRecord.Steps steps) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Joined within(UnitOfWork unit) {
            throw new UnsupportedOperationException();
        }
    }

    /** No lease is renewed and no probe runs. */
    private static final class Unused implements Background {

        @Override
        public Runnable every(Supplier<Duration> duty) {
            return () -> {};
        }

        @Override
        public void start(Runnable task) {
            throw new UnsupportedOperationException();
        }
    }
}
