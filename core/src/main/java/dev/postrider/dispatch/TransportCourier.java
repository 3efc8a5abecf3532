package dev.postrider.dispatch;

import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Hands messages to a transport, which answers when it likes. */
final class TransportCourier implements Courier {

    /** How much later than promised an answer may come. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Transport transport;
    private final Breaker breaker;
    private final Verdict verdict;
    private final BiConsumer<Held, Outcome> decided;
    private final Time time;

    TransportCourier(
            Transport transport, Breaker breaker, Verdict verdict, BiConsumer<Held, Outcome> decided, Time time) {
        this.transport = transport;
        this.breaker = breaker;
        this.verdict = verdict;
        this.decided = decided;
        this.time = time;
    }

    @Override
    public void carry(Held held) {
        try {
            send(held);
        } catch (Throwable e) {
            decide(held, null, e);
        }
    }

    private void send(Held held) {
        held.begin(time, transport.timeout().plus(PATIENCE));
        CompletionStage<DeliveryResult> answer = transport.deliver(
                new Delivery(held.claim().message(), held.claim().attempt()));
        if (answer == null) {
            decide(held, null, null);
        } else {
            answer.whenComplete((result, failure) -> decide(held, result, failure));
        }
    }

    /** A transport that breaks its word must not keep a slot for ever. */
    @Override
    public void giveUp(Held held) {
        decide(held, DeliveryResult.failed("The transport gave no answer within its timeout"), null);
    }

    @Override
    public void close() {}

    private void decide(Held held, @Nullable DeliveryResult result, @Nullable Throwable failure) {
        DeliveryResult answer = failure == null ? result : Failures.classify(held.topic(), failure);
        if (answer instanceof DeliveryResult.Delivered || answer instanceof DeliveryResult.Rejected) {
            breaker.answered();
        } else {
            breaker.failed(Verdict.error(answer));
        }
        decided.accept(held, verdict.on(held, answer));
    }
}
