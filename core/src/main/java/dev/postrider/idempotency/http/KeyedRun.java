package dev.postrider.idempotency.http;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandLostException;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.InvalidCommandException;
import dev.postrider.idempotency.LeasedCommand;
import dev.postrider.idempotency.UnreadableResultException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request under a key: runs its command and turns what became of it into an answer. For one request and one thread. */
final class KeyedRun<X extends Exception> {

    /** They say nothing of the operation: the same request can have another answer tomorrow. */
    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404, 405, 406, 413, 415, 429);

    private static final Logger LOG = LoggerFactory.getLogger(KeyedEndpoint.class);

    /** How often a handler runs for one request that gives way to others. */
    private static final int MOST_RUNS = 3;

    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration WHEN_THE_STORE_MAY_BE_BACK = Duration.ofSeconds(5);

    /** Runs a command in the way of this request. */
    @FunctionalInterface
    interface Invocation<X extends Exception> {
        CommandResult<HttpAnswer> invoke(KeyedRun<X> run, Command<HttpAnswer> command) throws X;
    }

    /** The handler, with what it is given. */
    @FunctionalInterface
    interface Handling<X extends Exception> {
        HttpAnswer handle() throws X;
    }

    private final KeySettings settings;
    private final HttpCall call;
    private final boolean once;
    private final Invocation<X> invocation;
    private boolean started;
    private @Nullable HttpAnswer produced;
    private @Nullable LeasedCommand lease;

    /** @param once whether the handler cannot run a second time for the same request */
    KeyedRun(KeySettings settings, HttpCall call, boolean once, Invocation<X> invocation) {
        this.settings = settings;
        this.call = call;
        this.once = once;
        this.invocation = invocation;
    }

    HttpAnswer answer(Command.Builder command, AnswerCodec codec, KeyedEndpoint.@Nullable Unprotected<X> unprotected)
            throws X {
        try {
            return runAgainAfterConflicts(command, codec);
        } catch (UnkeptException e) {
            return unkept(e);
        } catch (InvalidCommandException e) {
            if (started) {
                throw e;
            }
            return problem(e.field().equals("key") ? Problem.KEY_TOO_OLD : Problem.SCOPE_UNRESOLVED, null);
        } catch (TransactionConflictException e) {
            return later(Problem.TRANSACTION_CONFLICT, null, SOON);
        } catch (CommandLostException e) {
            return later(Problem.IN_PROGRESS, null, SOON);
        } catch (UnreadableResultException e) {
            LOG.error("HTTP_IDEMPOTENCY_RESULT_UNREADABLE operation={}", settings.operation, e);
            return problem(Problem.RESULT_UNREADABLE, e.reference());
        } catch (StoreUnavailableException e) {
            return withoutStore(unprotected);
        }
    }

    /** A conflict has rolled the work back, so it can run again at once; but not if the client counts the attempts. */
    private HttpAnswer runAgainAfterConflicts(Command.Builder command, AnswerCodec codec) throws X {
        int most = once || settings.options.maxAttempts() > 0 ? 1 : MOST_RUNS;
        for (int number = 1; ; number++) {
            try {
                return doubted(command, codec);
            } catch (TransactionConflictException e) {
                if (number >= most) {
                    throw e;
                }
            }
        }
    }

    /** A failure after an effect that may have happened is not called a failure: whoever repeats it must not do so unasked. */
    private HttpAnswer doubted(Command.Builder command, AnswerCodec codec) throws X {
        try {
            return patiently(command, codec);
        } catch (UnkeptException | CommandLostException e) {
            throw e;
        } catch (Exception e) {
            if (lease == null || !lease.isEffectPossible()) {
                throw e;
            }
            LOG.error("HTTP_IDEMPOTENCY_OUTCOME_UNKNOWN operation={} ref={}", settings.operation, lease.reference(), e);
            return produced == null ? problem(Problem.OUTCOME_UNKNOWN, lease.reference()) : degraded(produced);
        }
    }

    private HttpAnswer patiently(Command.Builder command, AnswerCodec codec) throws X {
        Duration wait = allowedWait();
        if (wait.isZero()) {
            return reply(invocation.invoke(this, command.returning(codec)));
        }
        command.with(options -> options.waitingForResult(wait));
        HttpAnswer answer = reply(invocation.invoke(this, command.returning(codec)));
        return started ? answer : answer.header("Preference-Applied", "wait=" + wait.toSeconds());
    }

    private Duration allowedWait() {
        Duration wanted = Preference.waitIn(call.headers().getOrDefault("Prefer", List.of()));
        return wanted.compareTo(settings.longestWait) < 0 ? wanted : settings.longestWait;
    }

    /** Within a leased command: the same as {@link #keep}. */
    HttpAnswer keep(LeasedCommand leased, Handling<X> handling) throws X {
        lease = leased;
        return kept(handling);
    }

    /** Within the command: hands back what is to be kept, and throws everything else out of it. */
    HttpAnswer keep(CommandTransaction transaction, Handling<X> handling) throws X {
        return kept(() -> {
            try {
                return handling.handle();
            } catch (Exception e) {
                if (transaction.isConflict(e)) {
                    throw new TransactionConflictException(e);
                }
                throw e;
            }
        });
    }

    private HttpAnswer kept(Handling<X> handling) throws X {
        started = true;
        produced = null;
        HttpAnswer answer = handling.handle();
        if (answer.sharedBody().length > settings.largestAnswer || isStream(answer)) {
            throw new UnkeptException(Problem.ANSWER_NOT_RECORDABLE);
        }
        if (!isKept(answer)) {
            throw new UnkeptException(answer);
        }
        produced = answer;
        if (answer.status() >= 400) {
            throw new CommandRejectedException("HTTP status " + answer.status(), answer);
        }
        return answer;
    }

    private static boolean isStream(HttpAnswer answer) {
        String type = answer.header("Content-Type");
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
    }

    private static boolean isKept(HttpAnswer answer) {
        return switch (answer.keeping()) {
            case ALWAYS -> true;
            case NEVER -> false;
            case BY_STATUS -> answer.status() < 500 && !REFUSALS.contains(answer.status());
        };
    }

    private HttpAnswer reply(CommandResult<HttpAnswer> result) {
        if (result instanceof CommandResult.Completed<HttpAnswer> done) {
            return done.recorded() || produced == null
                    ? kept(done.reference(), done.value(), done.replayed(), Problem.RESULT_OMITTED)
                    : degraded(produced);
        }
        if (result instanceof CommandResult.Rejected<HttpAnswer> no) {
            Problem without = no.expired() ? Problem.RESULT_EXPIRED : Problem.RESULT_OMITTED;
            return no.recorded() || produced == null
                    ? kept(no.reference(), no.value(), no.replayed(), without)
                    : degraded(produced);
        }
        if (result instanceof CommandResult.InProgress<HttpAnswer> busy) {
            return later(Problem.IN_PROGRESS, busy.reference(), busy.retryAfter());
        }
        if (result instanceof CommandResult.Uncertain<HttpAnswer> uncertain) {
            return problem(Problem.OUTCOME_UNKNOWN, uncertain.reference());
        }
        if (result instanceof CommandResult.Forgotten<HttpAnswer> forgotten) {
            return problem(
                    forgotten.wasTooLarge() ? Problem.RESULT_OMITTED : Problem.RESULT_EXPIRED, forgotten.reference());
        }
        return problem(Problem.KEY_REUSED, null);
    }

    /**
     * The first answer is sent as the handler made it, with the headers that are not kept.
     *
     * @param without what is answered when there is nothing left of it
     */
    private HttpAnswer kept(UUID reference, @Nullable HttpAnswer value, boolean replayed, Problem without) {
        if (!replayed && produced != null) {
            return echoed(produced);
        }
        if (value == null) {
            return problem(without, reference);
        }
        HttpAnswer answer = echoed(value).header(settings.replayMarker, "true");
        return value.isOmitted() ? answer.header("Idempotency-Result", "omitted") : answer;
    }

    private HttpAnswer unkept(UnkeptException unkept) {
        HttpAnswer answer = unkept.answer();
        Problem problem = unkept.problem();
        return answer != null ? echoed(answer) : problem(problem == null ? Problem.HANDLER_FAILED : problem, null);
    }

    /**
     * Once the work began, nobody knows whether its commit was the last thing the store heard: the same key finds out. A leased
     * effect is done whatever the store thinks, and is not to be called a failure.
     */
    private HttpAnswer withoutStore(KeyedEndpoint.@Nullable Unprotected<X> unprotected) throws X {
        if (lease != null && produced != null) {
            return degraded(produced);
        }
        if (!started && unprotected != null) {
            return degraded(unprotected.handle(call));
        }
        return later(Problem.STORE_UNAVAILABLE, null, WHEN_THE_STORE_MAY_BE_BACK);
    }

    private HttpAnswer degraded(HttpAnswer answer) {
        return echoed(answer).header("Idempotency-Degraded", "true");
    }

    /** The key as it came: it was checked, so it holds nothing that could not be in a header. */
    private HttpAnswer echoed(HttpAnswer answer) {
        String key = call.header(KeyedEndpoint.KEY);
        return key == null ? answer : answer.header(KeyedEndpoint.KEY, key.strip());
    }

    private HttpAnswer problem(Problem problem, @Nullable UUID reference) {
        return problem.answer(settings.problems, reference);
    }

    /** Whole seconds, at least one, and up to a quarter more, so that those who came together do not come back together. */
    private HttpAnswer later(Problem problem, @Nullable UUID reference, Duration wait) {
        long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
        long spread = ThreadLocalRandom.current().nextLong(seconds / 4 + 1);
        return problem(problem, reference).header("Retry-After", Long.toString(seconds + spread));
    }
}
