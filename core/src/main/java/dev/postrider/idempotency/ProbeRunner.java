package dev.postrider.idempotency;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.CommandOwner;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.internal.store.CommandStore;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the probes of uncertain commands and writes their findings. Each probe runs on a thread of its own, one per
 * command at a time. A probe that hangs blocks a caller only for the caller's own wait. Thread-safe.
 */
final class ProbeRunner {

    private static final Logger log = LoggerFactory.getLogger(ProbeRunner.class);

    /** How long a caller waits for a probe before the command counts as in progress. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /** The limit for concurrent probes on this node. */
    private static final int MOST = 100;

    /** The result of a probe. */
    enum ProbeAnswer {
        /** The row contains the outcome, or another caller changed the row in the meantime. */
        SETTLED,
        /** The other system cannot tell the outcome. */
        UNKNOWN,
        /** The probe has not returned yet. */
        PENDING
    }

    private final CommandStore store;
    private final ResultEncoding results;
    private final Background background;
    private final Platform platform;
    private final Map<UUID, Inquiry> running = new ConcurrentHashMap<>();

    ProbeRunner(CommandStore store, ResultEncoding results, Background background, Platform platform) {
        this.store = store;
        this.results = results;
        this.background = background;
        this.platform = platform;
    }

    /** A running probe. */
    private static final class Inquiry {

        private final Platform.Latch over;
        private volatile ProbeAnswer answer = ProbeAnswer.PENDING;
        private volatile @Nullable RuntimeException failure;

        private Inquiry(Platform.Latch over) {
            this.over = over;
        }
    }

    /**
     * Runs the probe, or joins the running probe of the same command, and waits for it.
     *
     * @throws dev.postrider.error.PostriderException when the finding could not be written
     */
    <R> ProbeAnswer ask(OutcomeProbe<R> probe, CommandRequest<R> request, CommandRecord row) {
        Inquiry own = new Inquiry(platform.latch());
        if (running.size() >= MOST && !running.containsKey(row.reference())) {
            return ProbeAnswer.PENDING;
        }
        Inquiry other = running.putIfAbsent(row.reference(), own);
        if (other != null) {
            return await(other);
        }
        try {
            background.start(() -> run(own, probe, request, row));
        } catch (Throwable e) {
            end(own, row, ProbeAnswer.PENDING);
            throw e;
        }
        return await(own);
    }

    private static ProbeAnswer await(Inquiry inquiry) {
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

    private <R> void run(Inquiry inquiry, OutcomeProbe<R> probe, CommandRequest<R> request, CommandRecord row) {
        ProbeAnswer answer = ProbeAnswer.UNKNOWN;
        try {
            answer = settle(request, row.owner(), asked(probe, request, row));
        } catch (RuntimeException e) {
            inquiry.failure = e;
        } finally {
            end(inquiry, row, answer);
        }
    }

    private static <R> OutcomeProbe.Finding<R> asked(
            OutcomeProbe<R> probe, CommandRequest<R> request, CommandRecord row) {
        try {
            return probe.ask(new OutcomeProbe.Question(row.reference()));
        } catch (RuntimeException e) {
            log.warn(
                    "The probe of {} failed for command {}; the outcome stays unknown",
                    request.command().identity().operation(),
                    row.reference(),
                    e);
            return OutcomeProbe.Finding.unknown();
        }
    }

    private void end(Inquiry inquiry, CommandRecord row, ProbeAnswer answer) {
        inquiry.answer = answer;
        running.remove(row.reference(), inquiry);
        inquiry.over.open();
    }

    /** Writes the finding. The statement has no effect if the owner of the row changed in the meantime. */
    private <R> ProbeAnswer settle(CommandRequest<R> request, CommandOwner owner, OutcomeProbe.Finding<R> finding) {
        switch (finding.kind()) {
            case HAPPENED ->
                store.complete(
                        owner,
                        results.success(request.command(), owner, finding.result())
                                .outcome());
            case DID_NOT_HAPPEN -> store.fail(owner, "The probe says that it did not happen", 0);
            case UNKNOWN -> {
                return ProbeAnswer.UNKNOWN;
            }
        }
        return ProbeAnswer.SETTLED;
    }
}
