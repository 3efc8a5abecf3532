package dev.postrider.dispatch;

import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.trace.TracedSpan;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Runs a handler in a thread of its own and reports its result; an exception of the handler is passed on unchanged. A
 * handler that exceeds its timeout is interrupted, and its attempt has failed.
 */
final class HandlerTransport implements Transport {

    private final Topic topic;
    private final DeliveryHandler handler;
    private final Executor threads;

    HandlerTransport(Topic topic, DeliveryHandler handler, Executor threads) {
        this.topic = topic;
        this.handler = handler;
        this.threads = threads;
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        return deliver(delivery, SafeSpan.NONE);
    }

    /** @param span is current while the handler runs */
    CompletionStage<DeliveryResult> deliver(Delivery delivery, SafeSpan span) {
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        FutureTask<Boolean> task = new FutureTask<>(() -> run(delivery, span, answer));
        DeliveryResult late = DeliveryResult.failed("The handler gave no answer within " + topic.handlerTimeout());
        threads.execute(task);
        return answer.completeOnTimeout(late, topic.handlerTimeout().toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((result, failure) -> {
                    if (late.equals(result)) {
                        task.cancel(true);
                    }
                });
    }

    private boolean run(Delivery delivery, SafeSpan span, CompletableFuture<DeliveryResult> answer) {
        try {
            handle(delivery, span);
        } catch (Throwable e) {
            return answer.completeExceptionally(e);
        }
        return answer.complete(DeliveryResult.delivered());
    }

    /** The span is no longer current when the answer is completed: that may send the next message in this thread. */
    private void handle(Delivery delivery, SafeSpan span) throws Exception {
        TracedSpan.ActiveSpan active = span.enter();
        try {
            handler.handle(delivery);
        } finally {
            active.close();
        }
    }

    @Override
    public Duration timeout() {
        return topic.handlerTimeout();
    }
}
