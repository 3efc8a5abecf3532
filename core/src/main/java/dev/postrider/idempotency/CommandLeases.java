package dev.postrider.idempotency;

import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The leases of the commands that run on this node. One background task renews all of them: each lease after a third of
 * its duration, until the maximum run time of its command. Thread-safe.
 */
final class CommandLeases {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** A shorter lease could end before the background task runs the next time. */
    private static final long SHORT_LEASE = LONGEST_PAUSE.multipliedBy(6).toNanos();

    private final CommandStore store;
    private final LongSupplier nanos;
    private final Runnable beat;
    private final Map<CommandOwner, RunningLease> runningLeases = new ConcurrentHashMap<>();
    private final AtomicBoolean begun = new AtomicBoolean();

    CommandLeases(CommandStore store, Background background, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
        this.beat = background.every(this::renew);
    }

    /** The lease of one running command. {@link #isLost()} may be called from any thread. */
    final class RunningLease {

        private final CommandOwner owner;
        private final long lease;
        private final long longest;
        private final long since = nanos.getAsLong();
        private volatile long renewed;
        private volatile boolean lost;

        private RunningLease(CommandClaimResult.Claimed claimed, Command.Options options) {
            this.owner = claimed.row().owner();
            this.renewed = claimed.askedNanos();
            this.lease = options.lease().toNanos();
            this.longest = options.maxRunTime().toNanos();
        }

        CommandOwner owner() {
            return owner;
        }

        long took() {
            return nanos.getAsLong() - since;
        }

        /**
         * Whether the lease ended or is lost, by the monotonic clock of this node. The lease counts from before the
         * statement that made or renewed it, so it ends here earlier than in the database, not later.
         */
        boolean isLost() {
            return lost || nanos.getAsLong() - renewed >= lease;
        }

        void lose() {
            lost = true;
        }

        private boolean isAgeing(long now) {
            return !lost && now - renewed >= lease / 3 && now - since < longest;
        }

        /** Stops the renewal of the lease. */
        void end() {
            runningLeases.remove(owner);
        }
    }

    RunningLease begin(CommandClaimResult.Claimed claimed, Command.Options options) {
        RunningLease runningLease = new RunningLease(claimed, options);
        runningLeases.put(runningLease.owner(), runningLease);
        if (!begun.getAndSet(true) || runningLease.lease < SHORT_LEASE) {
            beat.run();
        }
        return runningLease;
    }

    /** Renews all leases that are due, in one statement. */
    private Duration renew() {
        long now = nanos.getAsLong();
        Map<CommandOwner, RunningLease> ageing = runningLeases.values().stream()
                .filter(runningLease -> runningLease.isAgeing(now))
                .collect(Collectors.toMap(RunningLease::owner, runningLease -> runningLease));
        if (!ageing.isEmpty()) {
            Set<CommandOwner> lost = store.renew(ageing.keySet());
            ageing.forEach((owner, runningLease) -> {
                if (lost.contains(owner)) {
                    runningLease.lose();
                } else {
                    runningLease.renewed = now;
                }
            });
        }
        long shortest = runningLeases.values().stream()
                .mapToLong(runningLease -> runningLease.lease)
                .min()
                .orElse(Long.MAX_VALUE);
        return Duration.ofNanos(Math.min(shortest / 12 + 1, LONGEST_PAUSE.toNanos()));
    }
}
