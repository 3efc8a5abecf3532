package dev.postrider.benchmarks.contender;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A destination that accepts messages and does not answer, until {@link #answer} fails them all. Thread-safe. */
final class SilentTransport implements Transport {

    private final Queue<CompletableFuture<DeliveryResult>> unanswered = new ConcurrentLinkedQueue<>();
    private volatile boolean answering;

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        unanswered.add(answer);
        if (answering) {
            answer();
        }
        return answer;
    }

    /** Fails all messages from now on, so that a caller that waits for an answer can stop. */
    void answer() {
        answering = true;
        for (CompletableFuture<DeliveryResult> next = unanswered.poll(); next != null; next = unanswered.poll()) {
            next.complete(DeliveryResult.failed("timed out"));
        }
    }

    /** Does not answer from now on, for the next start. */
    SilentTransport silent() {
        answering = false;
        return this;
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
