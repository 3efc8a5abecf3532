package dev.postrider.idempotency;

import dev.postrider.event.EventListener;
import dev.postrider.store.CommandStore;
import dev.postrider.store.Transactions;
import java.sql.Connection;

/** Commands on one database: finds out who runs them, and runs them in one of three ways. Thread-safe. */
public final class CommandRunner implements Commands {

    private final Transactions transactions;
    private final Fingerprints fingerprints;
    private final KeyAge keyAge;
    private final Flights flights;
    private final Fenced fenced;
    private final Joining joining;
    private final Leased leased;

    /**
     * @param store claims and ends commands
     * @param heartbeats keeps up leases: on connections that business transactions cannot exhaust, if there are such
     * @param events what it throws goes no further
     */
    public CommandRunner(
            CommandStore store,
            CommandStore heartbeats,
            Transactions transactions,
            CommandOptions options,
            Background background,
            EventListener events) {
        this(store, heartbeats, transactions, options, background, events, Surroundings.system());
    }

    CommandRunner(
            CommandStore store,
            CommandStore heartbeats,
            Transactions transactions,
            CommandOptions options,
            Background background,
            EventListener events,
            Surroundings surroundings) {
        DatabaseTime time = new DatabaseTime(surroundings);
        Results results = new Results(options);
        Answers answers = new Answers(results, new Pace(surroundings::chance), events);
        Probes probes = new Probes(store, results, background, surroundings);
        Claims claims = new Claims(store, probes, time, surroundings::id, events);
        Running running = new Running(heartbeats, background, surroundings::nanos);
        Endings endings = new Endings(store, results, answers, events);
        this.transactions = transactions;
        this.fingerprints = options.fingerprints();
        this.keyAge = new KeyAge(time);
        this.flights = new Flights(claims, store, answers, options, surroundings);
        this.fenced = new Fenced(transactions, running, endings);
        this.joining = new Joining(transactions, store, claims, results, answers);
        this.leased = new Leased(running, endings);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> run(Command<R> command, CommandWork<R, X> work) throws X {
        Ran.Mode<R, X> mode = (request, row) -> fenced.run(request, row, work);
        return flights.once(checked(command), isUncertainIfLost(command), mode);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> join(
            Connection connection, Command<R> command, CommandWork<R, X> work) throws X {
        Request<R> request = checked(command);
        return joining.run(transactions.join(connection), request, work);
    }

    @Override
    public <R, X extends Exception> CommandResult<R> lease(Command<R> command, LeasedWork<R, X> work) throws X {
        Ran.Mode<R, X> mode = (request, row) -> leased.run(request, row, work);
        return flights.once(checked(command), isUncertainIfLost(command), mode);
    }

    private <R> Request<R> checked(Command<R> command) {
        keyAge.check(command);
        return Request.of(command, fingerprints);
    }

    private static boolean isUncertainIfLost(Command<?> command) {
        return command.options().onLostLease() == Command.OnLostLease.UNCERTAIN;
    }
}
