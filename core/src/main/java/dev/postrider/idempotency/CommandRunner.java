package dev.postrider.idempotency;

import dev.postrider.event.EventListener;
import dev.postrider.internal.Internal;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.internal.store.Transactions;
import java.sql.Connection;

/** Runs the commands of one database: claims them and executes them in one of three modes. Thread-safe. */
@Internal
public final class CommandRunner implements Commands {

    private final Transactions transactions;
    private final Fingerprints fingerprints;
    private final KeyAgeCheck keyAge;
    private final SingleFlight singleFlight;
    private final FencedExecution fenced;
    private final JoinedExecution joining;
    private final LeasedExecution leased;

    /**
     * The database of commands.
     *
     * @param commands claims and completes commands
     * @param leases renews leases, if possible on connections that business transactions cannot exhaust
     * @param transactions runs the work of commands
     */
    public record Database(CommandStore commands, CommandStore leases, Transactions transactions) {}

    /** @param events a listener that does not throw */
    public CommandRunner(Database database, CommandOptions options, Background background, EventListener events) {
        this(database, options, background, events, Platform.system());
    }

    CommandRunner(
            Database database, CommandOptions options, Background background, EventListener events, Platform platform) {
        CommandStore store = database.commands();
        DatabaseTime time = new DatabaseTime(platform);
        ResultEncoding results = new ResultEncoding(options);
        CommandReplies replies = new CommandReplies(results, new RetryAfterEstimate(platform::chance), events);
        ProbeRunner probes = new ProbeRunner(store, results, background, platform);
        CommandClaimer claimer = new CommandClaimer(store, probes, time, platform, events);
        CommandLeases leases = new CommandLeases(database.leases(), background, platform::nanos);
        CommandCompletion completion = new CommandCompletion(store, results, replies, events);
        this.transactions = database.transactions();
        this.fingerprints = options.fingerprints();
        this.keyAge = new KeyAgeCheck(time);
        this.singleFlight = new SingleFlight(claimer, store, replies, options, platform);
        this.fenced = new FencedExecution(transactions, leases, completion);
        this.joining = new JoinedExecution(transactions, store, claimer, results, replies);
        this.leased = new LeasedExecution(leases, completion);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
        RunResult.Mode<R, X> mode = (request, claimed) -> fenced.run(request, claimed, work);
        return singleFlight.once(checked(command), isUncertainIfLost(command), mode);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> join(
            Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
        CommandRequest<R> request = checked(command);
        return joining.run(transactions.join(connection), request, work);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
        RunResult.Mode<R, X> mode = (request, claimed) -> leased.run(request, claimed, work);
        return singleFlight.once(checked(command), isUncertainIfLost(command), mode);
    }

    private <R> CommandRequest<R> checked(Command<R> command) {
        keyAge.check(command);
        return CommandRequest.of(command, fingerprints);
    }

    private static boolean isUncertainIfLost(Command<?> command) {
        return command.options().onLostLease() == Command.OnLostLease.UNCERTAIN;
    }
}
