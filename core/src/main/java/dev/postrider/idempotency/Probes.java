package dev.postrider.idempotency;

import dev.postrider.store.CommandOwner;
import dev.postrider.store.CommandRecord;
import dev.postrider.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks other systems what became of uncertain commands, and writes down what they say. Each probe runs on a thread of its own, one
 * for each command at a time, so that a probe that hangs holds up no caller for longer than a caller waits. Thread-safe.
 */
final class Probes {

    private static final Logger log = LoggerFactory.getLogger(Probes.class);

    /** How long a caller waits for a probe, before the command counts as in progress. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /** How many probes may run at once on this node. */
    private static final int MOST = 100;

    /** What came of asking. */
    enum Answer {
        /** The row says what became of the command, or somebody else has changed it meanwhile. */
        SETTLED,
        /** The other system does not know. */
        UNKNOWN,
        /** The probe has not answered yet. */
        PENDING
    }

    private final CommandStore store;
    private final Results results;
    private final Background background;
    private final Surroundings surroundings;
    private final Map<UUID, Inquiry> running = new ConcurrentHashMap<>();

    Probes(CommandStore store, Results results, Background background, Surroundings surroundings) {
        this.store = store;
        this.results = results;
        this.background = background;
        this.surroundings = surroundings;
    }

    /** One probe at work. */
    private static final class Inquiry {

        private final Gate over;
        private volatile Answer answer = Answer.PENDING;
        private volatile @Nullable RuntimeException failure;

        private Inquiry(Gate over) {
            this.over = over;
        }
    }

    /** @throws dev.postrider.error.PostriderException when what the probe said could not be written */
    <R> Answer ask(OutcomeProbe<R> probe, Request<R> request, CommandRecord row) {
        Inquiry own = new Inquiry(surroundings.gate());
        if (running.size() >= MOST && !running.containsKey(row.reference())) {
            return Answer.PENDING;
        }
        Inquiry other = running.putIfAbsent(row.reference(), own);
        if (other != null) {
            return await(other);
        }
        try {
            background.start(() -> run(own, probe, request, row));
        } catch (Throwable e) {
            end(own, row, Answer.PENDING);
            throw e;
        }
        return await(own);
    }

    private static Answer await(Inquiry inquiry) {
        try {
            inquiry.over.await(PATIENCE.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        RuntimeException failure = inquiry.failure;
        if (failure != null) {
            throw failure;
        }
        return inquiry.answer;
    }

    private <R> void run(Inquiry inquiry, OutcomeProbe<R> probe, Request<R> request, CommandRecord row) {
        Answer answer = Answer.UNKNOWN;
        try {
            answer = settle(request, row.owner(), asked(probe, request, row));
        } catch (RuntimeException e) {
            inquiry.failure = e;
        } finally {
            end(inquiry, row, answer);
        }
    }

    private static <R> OutcomeProbe.Finding<R> asked(OutcomeProbe<R> probe, Request<R> request, CommandRecord row) {
        try {
            return probe.ask(row.reference());
        } catch (RuntimeException e) {
            log.warn(
                    "The probe of {} failed on {}; the outcome stays unknown",
                    request.command().identity().operation(),
                    row.reference(),
                    e);
            return new OutcomeProbe.Finding<>(OutcomeProbe.Kind.UNKNOWN, null);
        }
    }

    private void end(Inquiry inquiry, CommandRecord row, Answer answer) {
        inquiry.answer = answer;
        running.remove(row.reference(), inquiry);
        inquiry.over.open();
    }

    /** What a probe says holds only if nobody acted meanwhile. */
    private <R> Answer settle(Request<R> request, CommandOwner owner, OutcomeProbe.Finding<R> finding) {
        switch (finding.kind()) {
            case HAPPENED ->
                store.complete(
                        owner,
                        results.success(request.command(), owner, finding.result())
                                .outcome());
            case DID_NOT_HAPPEN -> store.fail(owner, "The probe says that it did not happen", 0);
            case UNKNOWN -> {
                return Answer.UNKNOWN;
            }
        }
        return Answer.SETTLED;
    }
}
