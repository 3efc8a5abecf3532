package dev.postrider.testkit;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.InvalidCommandException;
import dev.postrider.idempotency.LeasedCommand;
import dev.postrider.idempotency.LeasedWork;
import dev.postrider.idempotency.ResultCodec;
import dev.postrider.message.Message;
import dev.postrider.outbox.Enqueued;
import dev.postrider.outbox.Outbox;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Commands without a database, for tests of code that uses commands. Execution once per key, fingerprints, replays and times to live
 * work as in the real implementation. Leases never expire. A failure rolls nothing back, because there is no transaction.
 * Thread-safe.
 */
public final class InMemoryCommands implements Commands {

    private static final int LARGEST_RESULT = 64 * 1024;
    private static final int MOST_SHORTENED = 2;
    private static final Duration LEASE_LEFT = Duration.ofSeconds(2);

    private final Map<Command.Identity, Row> rows = new HashMap<>();
    private Instant now = Instant.now();
    private boolean broken;

    private enum State {
        IN_PROGRESS,
        DONE,
        REJECTED,
        FAILED,
        UNCERTAIN
    }

    private static final class Row {
        final UUID reference = UUID.randomUUID();
        final byte[] fingerprint;
        State state = State.IN_PROGRESS;
        int attempts = 1;
        Instant ended = Instant.MAX;
        String reason = "";
        byte @Nullable [] result;
        boolean tooLarge;
        /** Whether an external effect may have happened, so that a failure makes the command uncertain. */
        volatile boolean effectPossible;

        Row(byte[] fingerprint) {
            this.fingerprint = fingerprint;
        }
    }

    /** Moves the clock of these commands forward. */
    public synchronized void advance(Duration time) {
        now = now.plus(time);
    }

    /** Makes the store of keys unavailable, or available again. Commands in progress continue. */
    public synchronized void setBroken(boolean broken) {
        this.broken = broken;
    }

    /** The number of stored keys. */
    public synchronized int size() {
        return rows.size();
    }

    @Override
    public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
        return once(command, row -> work.run(new Transaction(row.reference, row.attempts)));
    }

    /** @throws UnsupportedOperationException always: there is no database connection */
    @Override
    public <R, X extends Exception> CommandResult<R> join(
            Connection connection, Command<R> command, CommandWork<R, X> work) {
        throw new UnsupportedOperationException("there is no database, so there is no transaction to join");
    }

    @Override
    public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
        boolean harmless = command.options().onLostLease() == Command.OnLostLease.TAKE_OVER;
        return once(command, row -> work.run(new Lease(row, row.attempts, harmless)));
    }

    private interface Body<R, X extends Exception> {
        @Nullable
        R run(Row row) throws X;
    }

    private <R, X extends Exception> CommandResult<R> once(Command<R> command, Body<R, X> body) throws X {
        Object claimed = claim(command);
        if (!(claimed instanceof Row row)) {
            @SuppressWarnings("unchecked")
            CommandResult<R> earlier = (CommandResult<R>) claimed;
            return earlier;
        }
        State end = State.FAILED;
        try {
            R value = body.run(row);
            keep(row, command.codec(), value);
            end = State.DONE;
            return new CommandResult.Completed<>(row.reference, value, false);
        } catch (CommandRejectedException e) {
            @SuppressWarnings("unchecked")
            R value = (R) e.result();
            keep(row, command.codec(), value);
            row.reason = String.valueOf(e.getMessage());
            end = State.REJECTED;
            return new CommandResult.Rejected<>(row.reference, row.reason, value, false);
        } finally {
            end(row, end == State.FAILED && row.effectPossible ? State.UNCERTAIN : end);
        }
    }

    /** Returns the row if this caller claimed it, otherwise the result to return. */
    private synchronized <R> Object claim(Command<R> command) {
        if (broken) {
            throw new StoreUnavailableException("The store is broken", new IllegalStateException("as the test asked"));
        }
        refuseStale(command);
        long deadline = System.nanoTime() + command.options().waitForResult().toNanos();
        while (true) {
            Row row = rows.get(command.identity());
            if (row == null || isOver(row, command.options().keyTtl())) {
                Row fresh = new Row(command.fingerprint());
                rows.put(command.identity(), fresh);
                return fresh;
            }
            if (!Arrays.equals(row.fingerprint, command.fingerprint())) {
                return new CommandResult.Mismatch<R>();
            }
            if (row.state == State.FAILED) {
                row.state = State.IN_PROGRESS;
                row.attempts++;
                return row;
            }
            if (row.state == State.UNCERTAIN) {
                return new CommandResult.Uncertain<R>(row.reference);
            }
            if (row.state != State.IN_PROGRESS) {
                return replay(row, command);
            }
            if (!awaitEnd(row, deadline)) {
                return new CommandResult.InProgress<R>(row.reference, LEASE_LEFT);
            }
        }
    }

    private boolean isOver(Row row, Duration ttl) {
        return row.state != State.IN_PROGRESS && row.state != State.UNCERTAIN && !now.isBefore(row.ended.plus(ttl));
    }

    /** Waits until the command has ended; false at the deadline. Releases the monitor while it waits. */
    private boolean awaitEnd(Row row, long deadline) {
        try {
            while (row.state == State.IN_PROGRESS) {
                long left = (deadline - System.nanoTime()) / 1_000_000;
                if (left <= 0) {
                    return false;
                }
                wait(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private <R> CommandResult<R> replay(Row row, Command<R> command) {
        boolean expired = isOver(row, command.options().resultTtl());
        if (row.state == State.REJECTED && (expired || row.tooLarge)) {
            return new CommandResult.Rejected<>(row.reference, row.reason, null, true, expired, true);
        }
        if (expired || row.tooLarge) {
            return new CommandResult.ResultOmitted<>(row.reference, !expired);
        }
        R value = row.result == null ? null : command.codec().decode(row.result);
        return row.state == State.DONE
                ? new CommandResult.Completed<>(row.reference, value, true)
                : new CommandResult.Rejected<>(row.reference, row.reason, value, true);
    }

    private void refuseStale(Command<?> command) {
        if (!command.options().onlyRecentUuidV7Keys()) {
            return;
        }
        UUID key = UUID.fromString(command.identity().key());
        Instant made = Instant.ofEpochMilli(key.getMostSignificantBits() >>> 16);
        if (key.version() != 7 || made.isBefore(now.minus(command.options().keyTtl()))) {
            throw new InvalidCommandException("key", "is older than the stored keys");
        }
    }

    private static <R> void keep(Row row, ResultCodec<R> codec, @Nullable R value) {
        if (value == null) {
            return;
        }
        byte[] result = codec.encode(value);
        R shortened = value;
        for (int i = 0; result.length > LARGEST_RESULT && shortened != null && i < MOST_SHORTENED; i++) {
            shortened = codec.shortened(shortened);
            result = shortened == null ? result : codec.encode(shortened);
        }
        row.tooLarge = result.length > LARGEST_RESULT;
        row.result = row.tooLarge ? null : result;
    }

    private synchronized void end(Row row, State state) {
        row.state = state;
        row.ended = now;
        notifyAll();
    }

    private static UUID downstreamKey(UUID reference, String step) {
        return UUID.nameUUIDFromBytes((reference + "/" + step).getBytes(StandardCharsets.UTF_8));
    }

    private record Transaction(UUID reference, int attempt) implements CommandTransaction {

        @Override
        public boolean isConflict(Throwable failure) {
            return failure instanceof TransactionConflictException;
        }

        @Override
        public UUID downstreamKey(String step) {
            return InMemoryCommands.downstreamKey(reference, step);
        }

        @Override
        public Connection connection() {
            throw new UnsupportedOperationException("there is no database");
        }

        @Override
        public void stage(Message message) {
            throw new UnsupportedOperationException("there is no outbox");
        }

        @Override
        public void stage(Collection<Message> messages) {
            throw new UnsupportedOperationException("there is no outbox");
        }

        @Override
        public List<Enqueued> staged() {
            return List.of();
        }

        @Override
        public Outbox outbox() {
            throw new UnsupportedOperationException("there is no outbox");
        }
    }

    private record Lease(Row row, int attempt, boolean harmless) implements LeasedCommand {

        @Override
        public UUID reference() {
            return row.reference;
        }

        @Override
        public UUID downstreamKey(String step) {
            return InMemoryCommands.downstreamKey(row.reference, step);
        }

        @Override
        public void externalEffectStarted() {
            row.effectPossible = !harmless;
        }

        @Override
        public void externalEffectDidNotHappen() {
            row.effectPossible = false;
        }

        @Override
        public boolean isEffectPossible() {
            return row.effectPossible;
        }

        @Override
        public <T> @Nullable T step(String name, ResultCodec<T> codec, Callable<T> step) throws Exception {
            return step.call();
        }

        @Override
        public boolean isLost() {
            return false;
        }
    }
}
