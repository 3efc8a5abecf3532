package dev.postrider;

import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandWork;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.LeasedWork;
import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.trace.TracedEnd;
import dev.postrider.trace.TracedSpan;
import java.sql.Connection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Commands that a tracer follows. Thread-safe. */
final class TracedCommands implements Commands {

    private final Commands commands;
    private final SafeTracing tracing;

    TracedCommands(Commands commands, SafeTracing tracing) {
        this.commands = commands;
        this.tracing = tracing;
    }

    /** A call that runs a command. It notes the reference as soon as the work gets it. */
    private interface CommandCall<R, X extends Exception> {
        CommandResult<R> run(Reference reference) throws X;
    }

    /** The reference of a command whose work may fail. Used by one thread. */
    private static final class Reference {
        @Nullable
        UUID value;
    }

    @Override
    public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
        return traced(command, reference -> commands.run(command, noting(reference, work)));
    }

    @Override
    public <R, X extends Exception> CommandResult<R> join(
            Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
        return traced(command, reference -> commands.join(connection, command, noting(reference, work)));
    }

    private static <R, X extends Exception> CommandWork<R, X> noting(Reference reference, CommandWork<R, X> work) {
        return transaction -> {
            reference.value = transaction.reference();
            return work.run(transaction);
        };
    }

    @Override
    public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
        return traced(command, reference -> {
            LeasedWork<R, X> noting = lease -> {
                reference.value = lease.reference();
                return work.run(lease);
            };
            return commands.lease(command, noting);
        });
    }

    private <R, X extends Exception> CommandResult<R> traced(Command<R> command, CommandCall<R, X> call) throws X {
        SafeSpan span = tracing.execute(command.identity().operation());
        TracedSpan.ActiveSpan active = span.enter();
        Reference reference = new Reference();
        try {
            CommandResult<R> result = call.run(reference);
            span.end(result.fold(new CommandEnd<>()));
            return result;
        } catch (Throwable e) {
            span.end(TracedEnd.failed(reference.value, e));
            throw e;
        } finally {
            active.close();
        }
    }

    /** The end of a command as a tracer gets it. An uncertain command needs a probe or an operator, so it has failed. */
    private static final class CommandEnd<R> implements CommandResult.Cases<R, TracedEnd> {

        @Override
        public TracedEnd completed(CommandResult.Completed<R> result) {
            return end(result.replayed() ? "replayed" : "completed", result.reference());
        }

        @Override
        public TracedEnd rejected(CommandResult.Rejected<R> result) {
            return end(result.replayed() ? "replayed" : "rejected", result.reference());
        }

        @Override
        public TracedEnd inProgress(CommandResult.InProgress<R> result) {
            return end("in_progress", result.reference());
        }

        @Override
        public TracedEnd mismatch(CommandResult.Mismatch<R> result) {
            return end("mismatch", null);
        }

        @Override
        public TracedEnd uncertain(CommandResult.Uncertain<R> result) {
            return new TracedEnd("uncertain", result.reference(), "The outcome of the command is uncertain", null);
        }

        @Override
        public TracedEnd resultOmitted(CommandResult.ResultOmitted<R> result) {
            return end("replayed", result.reference());
        }

        private static TracedEnd end(String outcome, @Nullable UUID reference) {
            return new TracedEnd(outcome, reference, null, null);
        }
    }
}
