package dev.postrider.idempotency;

import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.message.DeterministicKey;
import java.nio.ByteBuffer;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The {@link LeasedCommand} that the work of a leased command receives. */
final class ActiveLease implements LeasedCommand {

    private static final int LONGEST_NAME = 100;

    private final CommandStore store;
    private final ResultEncoding results;
    private final CommandRecord row;
    private final CommandLeases.RunningLease runningLease;
    private final boolean uncertainOnceStarted;
    private final StepResults steps;
    private volatile boolean effectPossible;

    ActiveLease(
            CommandStore store,
            ResultEncoding results,
            CommandRecord row,
            CommandLeases.RunningLease runningLease,
            Command.Options options) {
        this.store = store;
        this.results = results;
        this.row = row;
        this.runningLease = runningLease;
        this.uncertainOnceStarted = options.onLostLease() != Command.OnLostLease.TAKE_OVER;
        this.steps = StepResults.of(results.openSteps(row));
    }

    @Override
    public UUID reference() {
        return row.reference();
    }

    @Override
    public int attempt() {
        return row.attempts();
    }

    @Override
    public UUID downstreamKey(String step) {
        return DeterministicKey.nameBased(row.reference(), step);
    }

    @Override
    public void externalEffectStarted() {
        owned(store.startEffect(row.owner(), uncertainOnceStarted));
        effectPossible = uncertainOnceStarted;
    }

    @Override
    public void externalEffectDidNotHappen() {
        effectPossible = false;
    }

    @Override
    public boolean isEffectPossible() {
        return effectPossible;
    }

    @Override
    public synchronized <T> @Nullable T step(String name, ResultCodec<T> codec, Callable<T> step) throws Exception {
        if (name.isEmpty() || name.length() > LONGEST_NAME) {
            throw new InvalidCommandException("step", "must have a name of 1 to " + LONGEST_NAME + " characters");
        }
        StepResults.StepResult done = steps.find(name);
        if (done != null) {
            return read(name, codec, done);
        }
        T result = step.call();
        keep(name, codec, result);
        return result;
    }

    private static <T> @Nullable T read(String name, ResultCodec<T> codec, StepResults.StepResult done) {
        if (!done.codec().equals(codec.name())) {
            throw new InvalidCommandException(
                    "step " + name,
                    "is read by codec '" + codec.name() + "', but its result was stored by '" + done.codec() + "'");
        }
        ByteBuffer result = done.result();
        if (result == null) {
            return null;
        }
        byte[] bytes = new byte[result.remaining()];
        result.duplicate().get(bytes);
        return codec.decode(bytes);
    }

    /**
     * Stores the result of a step. A result that does not fit is not stored, although the step has run: after a crash
     * the step runs again.
     */
    private <T> void keep(String name, ResultCodec<T> codec, @Nullable T result) {
        ByteBuffer bytes = result == null ? null : ByteBuffer.wrap(codec.encode(result));
        steps.add(name, new StepResults.StepResult(codec.name(), bytes));
        CommandRecord.Steps stored = results.sealSteps(row, steps.stored());
        if (stored.bytes().length > CommandOptions.HARD_CAP) {
            steps.remove(name);
            throw new InvalidCommandException(
                    "step " + name,
                    "makes the results of all steps larger than " + CommandOptions.HARD_CAP
                            + " bytes: store a reference instead");
        }
        owned(store.saveSteps(row.owner(), stored));
    }

    private void owned(boolean met) {
        if (!met) {
            runningLease.lose();
            throw new CommandLostException(row.reference());
        }
    }

    @Override
    public boolean isLost() {
        return runningLease.isLost();
    }
}
