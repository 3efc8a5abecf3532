package dev.postrider.idempotency;

import dev.postrider.store.CommandOwner;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * The commands that run on this node. One thread keeps up the leases of all of them, each when a third of it is gone and until its
 * longest run time is over. Thread-safe.
 */
final class Running {

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** Below this a lease could not wait for the end of a pause. */
    private static final long SHORT_LEASE = LONGEST_PAUSE.multipliedBy(6).toNanos();

    private final CommandStore store;
    private final LongSupplier nanos;
    private final Runnable beat;
    private final Map<CommandOwner, Tenure> tenures = new ConcurrentHashMap<>();
    private final AtomicBoolean begun = new AtomicBoolean();

    Running(CommandStore store, Background background, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
        this.beat = background.every(this::renew);
    }

    /** One command at work. Whether it is lost is asked from any thread. */
    final class Tenure {

        private final CommandOwner owner;
        private final long lease;
        private final long longest;
        private final long since = nanos.getAsLong();
        private volatile long renewed = since;
        private volatile boolean lost;

        private Tenure(CommandOwner owner, Command.Options options) {
            this.owner = owner;
            this.lease = options.lease().toNanos();
            this.longest = options.maxRunTime().toNanos();
        }

        CommandOwner owner() {
            return owner;
        }

        long took() {
            return nanos.getAsLong() - since;
        }

        /** By this machine's clock, counted from before the lease was asked for: too early rather than too late. */
        boolean isLost() {
            return lost || nanos.getAsLong() - renewed >= lease;
        }

        void lose() {
            lost = true;
        }

        private boolean isAgeing(long now) {
            return !lost && now - renewed >= lease / 3 && now - since < longest;
        }

        /** Its lease is not kept up any more. */
        void end() {
            tenures.remove(owner);
        }
    }

    Tenure begin(CommandOwner owner, Command.Options options) {
        Tenure tenure = new Tenure(owner, options);
        tenures.put(owner, tenure);
        if (!begun.getAndSet(true) || tenure.lease < SHORT_LEASE) {
            beat.run();
        }
        return tenure;
    }

    /** One statement for all of them. */
    private Duration renew() {
        long now = nanos.getAsLong();
        Map<CommandOwner, Tenure> ageing = tenures.values().stream()
                .filter(tenure -> tenure.isAgeing(now))
                .collect(Collectors.toMap(Tenure::owner, tenure -> tenure));
        if (!ageing.isEmpty()) {
            Set<CommandOwner> lost = store.renew(ageing.keySet());
            ageing.forEach((owner, tenure) -> {
                if (lost.contains(owner)) {
                    tenure.lose();
                } else {
                    tenure.renewed = now;
                }
            });
        }
        long shortest = tenures.values().stream()
                .mapToLong(tenure -> tenure.lease)
                .min()
                .orElse(Long.MAX_VALUE);
        return Duration.ofNanos(Math.min(shortest / 12 + 1, LONGEST_PAUSE.toNanos()));
    }
}
