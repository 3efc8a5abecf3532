package dev.postrider.idempotency.http;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.Command;
import dev.postrider.idempotency.CommandLostException;
import dev.postrider.idempotency.CommandRejectedException;
import dev.postrider.idempotency.CommandResult;
import dev.postrider.idempotency.InvalidCommandException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** One request under a key: runs its command and turns what became of it into an answer. For one request and one thread. */
final class KeyedRun<X extends Exception> {

    /** They say nothing of the operation: the same request can have another answer tomorrow. */
    private static final Set<Integer> REFUSALS = Set.of(401, 403, 404, 405, 406, 413, 415, 429);

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
    private final boolean leased;
    private final Invocation<X> invocation;
    private boolean started;
    private @Nullable HttpAnswer produced;

    KeyedRun(KeySettings settings, HttpCall call, boolean leased, Invocation<X> invocation) {
        this.settings = settings;
        this.call = call;
        this.leased = leased;
        this.invocation = invocation;
    }

    HttpAnswer answer(Command.Builder command, AnswerCodec codec, KeyedEndpoint.@Nullable Unprotected<X> unprotected)
            throws X {
        try {
            return patiently(command, codec);
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
        } catch (StoreUnavailableException e) {
            return withoutStore(unprotected);
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

    /** Within the command: hands back what is to be kept, and throws everything else out of it. */
    HttpAnswer keep(Handling<X> handling) throws X {
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
            return kept(done.reference(), done.value(), done.replayed());
        }
        if (result instanceof CommandResult.Rejected<HttpAnswer> no) {
            return kept(no.reference(), no.value(), no.replayed());
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

    /** The first answer is sent as the handler made it, with the headers that are not kept. */
    private HttpAnswer kept(UUID reference, @Nullable HttpAnswer value, boolean replayed) {
        if (!replayed && produced != null) {
            return echoed(produced);
        }
        if (value == null) {
            return problem(Problem.RESULT_OMITTED, reference);
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
        if (leased && produced != null) {
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
