package dev.postrider.dispatch;

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
        CompletableFuture<DeliveryResult> answer = new CompletableFuture<>();
        FutureTask<Boolean> task = new FutureTask<>(() -> run(delivery, answer));
        DeliveryResult late = DeliveryResult.failed("The handler gave no answer within " + topic.handlerTimeout());
        threads.execute(task);
        return answer.completeOnTimeout(late, topic.handlerTimeout().toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((result, failure) -> {
                    if (late.equals(result)) {
                        task.cancel(true);
                    }
                });
    }

    private boolean run(Delivery delivery, CompletableFuture<DeliveryResult> answer) {
        try {
            handler.handle(delivery);
        } catch (Throwable e) {
            return answer.completeExceptionally(e);
        }
        return answer.complete(DeliveryResult.delivered());
    }

    @Override
    public Duration timeout() {
        return topic.handlerTimeout();
    }
}
