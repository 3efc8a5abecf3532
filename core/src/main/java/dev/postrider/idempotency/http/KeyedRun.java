package dev.postrider.idempotency.http;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
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

/**
 * Runs the command of one request with a key and converts its result to a response. For one request and one thread.
 */
final class KeyedRun<X extends Exception> {

    /** These refusals do not depend on the operation: the same request may get another response later. */
    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404, 405, 406, 413, 415, 429);

    private static final Logger LOG = LoggerFactory.getLogger(KeyedEndpoint.class);

    /** The limit for runs of a handler for one request after transaction conflicts. */
    private static final int MOST_RUNS = 3;

    private static final String DEGRADED = "Idempotency-Degraded";
    private static final String NOT_ROLLED_BACK =
            "It is too large. The request was handled without its key, so what the request did was not rolled back.";

    private static final Duration SOON = Duration.ofSeconds(1);
    private static final Duration WHEN_THE_STORE_MAY_BE_BACK = Duration.ofSeconds(5);

    /** Runs a command in the mode of this request. */
    @FunctionalInterface
    interface Invocation<X extends Exception> {
        CommandResult<KeyedResponse> invoke(KeyedRun<X> run, Command<KeyedResponse> command) throws X;
    }

    /** The handler with its arguments. */
    @FunctionalInterface
    interface Handling<X extends Exception> {
        KeyedResponse handle() throws X;
    }

    private final KeySettings settings;
    private final KeyedRequest call;
    private final boolean once;
    private final Invocation<X> invocation;
    private boolean started;
    private @Nullable KeyedResponse produced;
    private @Nullable LeasedCommand lease;
    private @Nullable UUID reference;

    /** @param once whether the handler can run only once for a request */
    KeyedRun(KeySettings settings, KeyedRequest call, boolean once, Invocation<X> invocation) {
        this.settings = settings;
        this.call = call;
        this.once = once;
        this.invocation = invocation;
    }

    KeyedResponse answer(
            Command.Builder command, ResponseCodec codec, KeyedEndpoint.@Nullable Unprotected<X> unprotected) throws X {
        try {
            return runAgainAfterConflicts(command, codec);
        } catch (UnkeptException e) {
            return unkept(e);
        } catch (InvalidCommandException e) {
            if (started) {
                throw e;
            }
            return problem(e.field().equals("key") ? HttpProblem.KEY_TOO_OLD : HttpProblem.SCOPE_UNRESOLVED, null);
        } catch (TransactionConflictException e) {
            return later(HttpProblem.TRANSACTION_CONFLICT, null, SOON);
        } catch (CommandLostException e) {
            return later(HttpProblem.IN_PROGRESS, null, SOON);
        } catch (UnreadableResultException e) {
            LOG.error("HTTP_IDEMPOTENCY_RESULT_UNREADABLE operation={}", settings.operation, e);
            return problem(HttpProblem.RESULT_UNREADABLE, e.reference());
        } catch (StoreUnavailableException e) {
            return withoutStore(unprotected);
        }
    }

    /**
     * Runs the command again after a conflict, because a conflict rolls the work back. It does not run again if the
     * number of attempts is limited, or if the conflict came before the work started: then the claim has already
     * waited.
     */
    private KeyedResponse runAgainAfterConflicts(Command.Builder command, ResponseCodec codec) throws X {
        int most = once || settings.options.maxAttempts() > 0 ? 1 : MOST_RUNS;
        for (int number = 1; ; number++) {
            try {
                return doubted(command, codec);
            } catch (TransactionConflictException e) {
                if (number >= most || !started) {
                    throw e;
                }
            }
        }
    }

    /**
     * Reports a failure after a possible effect as an unknown outcome, because a client repeats a failed request
     * without asking.
     */
    private KeyedResponse doubted(Command.Builder command, ResponseCodec codec) throws X {
        try {
            return patiently(command, codec);
        } catch (UnkeptException | CommandLostException e) {
            throw e;
        } catch (Throwable e) {
            if (!isEffectPossibleAfter(e)) {
                throw e;
            }
            LOG.error("HTTP_IDEMPOTENCY_OUTCOME_UNKNOWN operation={} ref={}", settings.operation, reference, e);
            return lease == null || produced == null
                    ? problem(HttpProblem.OUTCOME_UNKNOWN, reference)
                    : degraded(produced);
        }
    }

    /** A failed command leaves an effect in another system, or in the database if its work has ended the transaction. */
    private boolean isEffectPossibleAfter(Throwable failure) {
        return lease != null
                ? lease.isEffectPossible()
                : failure instanceof UnusableConnectionException unusable
                        && unusable.problem() == UnusableConnectionException.Problem.ENDED;
    }

    private KeyedResponse patiently(Command.Builder command, ResponseCodec codec) throws X {
        Duration wait = allowedWait();
        if (wait.isZero()) {
            return reply(invocation.invoke(this, command.returning(codec)));
        }
        command.with(options -> options.waitForResult(wait));
        KeyedResponse answer = reply(invocation.invoke(this, command.returning(codec)));
        return started ? answer : answer.header("Preference-Applied", "wait=" + wait.toSeconds());
    }

    private Duration allowedWait() {
        Duration wanted = Preference.waitIn(call.headers().getOrDefault("Prefer", List.of()));
        return wanted.compareTo(settings.longestWait) < 0 ? wanted : settings.longestWait;
    }

    /** Like {@link #keep(CommandTransaction, Handling)}, inside a leased command. */
    KeyedResponse keep(LeasedCommand leased, Handling<X> handling) throws X {
        lease = leased;
        reference = leased.reference();
        return kept(handling);
    }

    /**
     * Runs the handler inside the command. Returns a response that is to be stored, and throws an exception for every
     * other response.
     */
    KeyedResponse keep(CommandTransaction transaction, Handling<X> handling) throws X {
        reference = transaction.reference();
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

    private KeyedResponse kept(Handling<X> handling) throws X {
        started = true;
        produced = null;
        KeyedResponse answer = handling.handle();
        if (answer.sharedBody().length > settings.largestAnswer || isStream(answer)) {
            throw new UnkeptException(HttpProblem.ANSWER_NOT_RECORDABLE);
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

    private static boolean isStream(KeyedResponse answer) {
        String type = answer.header("Content-Type");
        return type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
    }

    private static boolean isKept(KeyedResponse answer) {
        return switch (answer.keeping()) {
            case ALWAYS -> true;
            case NEVER -> false;
            case BY_STATUS -> answer.status() < 500 && !REFUSALS.contains(answer.status());
        };
    }

    private KeyedResponse reply(CommandResult<KeyedResponse> result) {
        return result.fold(new Reply());
    }

    /** The response for each kind of result. */
    private final class Reply implements CommandResult.Cases<KeyedResponse, KeyedResponse> {

        @Override
        public KeyedResponse completed(CommandResult.Completed<KeyedResponse> done) {
            return done.recorded() || produced == null
                    ? kept(done.reference(), done.value(), done.replayed(), HttpProblem.RESULT_OMITTED)
                    : degraded(produced);
        }

        @Override
        public KeyedResponse rejected(CommandResult.Rejected<KeyedResponse> rejection) {
            return KeyedRun.this.rejected(rejection);
        }

        @Override
        public KeyedResponse inProgress(CommandResult.InProgress<KeyedResponse> running) {
            return later(HttpProblem.IN_PROGRESS, running.reference(), running.retryAfter());
        }

        @Override
        public KeyedResponse mismatch(CommandResult.Mismatch<KeyedResponse> mismatch) {
            return problem(HttpProblem.KEY_REUSED, null);
        }

        @Override
        public KeyedResponse uncertain(CommandResult.Uncertain<KeyedResponse> uncertain) {
            return problem(HttpProblem.OUTCOME_UNKNOWN, uncertain.reference());
        }

        @Override
        public KeyedResponse resultOmitted(CommandResult.ResultOmitted<KeyedResponse> omitted) {
            return problem(
                    omitted.wasTooLarge() ? HttpProblem.RESULT_OMITTED : HttpProblem.RESULT_EXPIRED,
                    omitted.reference());
        }
    }

    /**
     * Makes the response for a rejection: a 4xx response of the handler, or a {@link CommandRejectedException} of the
     * handler. In the second case there is only the reason, for this request and for every retry.
     */
    private KeyedResponse rejected(CommandResult.Rejected<KeyedResponse> no) {
        if (!no.recorded() && produced != null) {
            return degraded(produced);
        }
        boolean own = !no.replayed() && produced != null;
        if (own || no.value() != null || no.expired()) {
            return kept(no.reference(), no.value(), no.replayed(), HttpProblem.RESULT_EXPIRED);
        }
        KeyedResponse answer = no.reason().isEmpty()
                ? problem(HttpProblem.REJECTED, no.reference())
                : HttpProblem.REJECTED.answer(settings.problems, no.reference(), no.reason());
        return no.replayed() ? answer.header(settings.replayMarker, "true") : answer;
    }

    /**
     * Makes the response for a stored result. The first response is sent as the handler made it, including the headers
     * that are not stored.
     *
     * @param without the problem for a result that is no longer stored
     */
    private KeyedResponse kept(UUID reference, @Nullable KeyedResponse value, boolean replayed, HttpProblem without) {
        if (!replayed && produced != null) {
            return echoed(produced);
        }
        if (value == null) {
            return problem(without, reference);
        }
        if (!replayed) {
            return echoed(value);
        }
        KeyedResponse answer = echoed(value).header(settings.replayMarker, "true");
        return value.isOmitted() ? answer.header("Idempotency-Result", "omitted") : answer;
    }

    private KeyedResponse unkept(UnkeptException unkept) {
        KeyedResponse answer = unkept.answer();
        HttpProblem problem = unkept.problem();
        return answer != null ? echoed(answer) : problem(problem == null ? HttpProblem.HANDLER_FAILED : problem, null);
    }

    /**
     * Makes the response when the store is unavailable. After the work started, it is not known whether the transaction
     * committed; a retry with the same key finds out. The effect of a leased command has happened even if its outcome
     * is not stored, and is not reported as a failure.
     */
    private KeyedResponse withoutStore(KeyedEndpoint.@Nullable Unprotected<X> unprotected) throws X {
        if (lease != null && produced != null) {
            return degraded(produced);
        }
        if (!started && unprotected != null) {
            return withoutProtection(unprotected);
        }
        return later(HttpProblem.STORE_UNAVAILABLE, null, WHEN_THE_STORE_MAY_BE_BACK);
    }

    private KeyedResponse withoutProtection(KeyedEndpoint.Unprotected<X> unprotected) throws X {
        try {
            return degraded(unprotected.handle(call));
        } catch (UnkeptException e) {
            return HttpProblem.ANSWER_NOT_RECORDABLE
                    .answer(settings.problems, null, NOT_ROLLED_BACK)
                    .header(DEGRADED, "true");
        }
    }

    private KeyedResponse degraded(KeyedResponse answer) {
        return echoed(answer).header(DEGRADED, "true");
    }

    /** Adds the key of the request. The key was validated, so its characters are valid in a header. */
    private KeyedResponse echoed(KeyedResponse answer) {
        String key = call.header(KeyedEndpoint.KEY);
        return key == null ? answer : answer.header(KeyedEndpoint.KEY, key.strip());
    }

    private KeyedResponse problem(HttpProblem problem, @Nullable UUID reference) {
        return problem.answer(settings.problems, reference);
    }

    /**
     * Adds Retry-After: whole seconds, at least one, plus a jitter of up to a quarter, so that clients do not all retry
     * at the same time.
     */
    private KeyedResponse later(HttpProblem problem, @Nullable UUID reference, Duration wait) {
        long seconds = Math.max(1, wait.plusMillis(999).toSeconds());
        long spread = ThreadLocalRandom.current().nextLong(seconds / 4 + 1);
        return problem(problem, reference).header("Retry-After", Long.toString(seconds + spread));
    }
}
