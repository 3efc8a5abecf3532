package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

final class DeliveryPipelineTest {

    private final Rig rig = new Rig("orders");

    @Test
    void deliveredMessageIsAcknowledged() {
        rig.pipeline.deliver(rig.hold());

        assertThat(outcome()).isInstanceOf(Outcome.Delivered.class);
        assertThat(rig.sent).hasSize(1);
    }

    @Test
    void deliveryBeginsAsLongAsTheLeaseHasItsHeadroom() {
        InFlightMessage claimed = rig.hold();
        rig.time.pass(Duration.ofMillis(26_999));

        rig.pipeline.deliver(claimed);

        assertThat(rig.sent).hasSize(1);
    }

    @Test
    void deliveryDoesNotBeginWhenTheMonotonicClockSaysThatTheLeaseIsTooOld() {
        InFlightMessage claimed = rig.hold();
        rig.time.passMonotonic(Duration.ofSeconds(27));

        rig.pipeline.deliver(claimed);

        assertReleasedUnsent();
    }

    @Test
    void deliveryDoesNotBeginWhenTheWallClockSaysThatTheLeaseIsTooOld() {
        InFlightMessage claimed = rig.hold();
        rig.time.passWall(Duration.ofSeconds(27));

        rig.pipeline.deliver(claimed);

        assertReleasedUnsent();
    }

    @Test
    void wallClockThatIsSetBackMakesALeaseNoYounger() {
        InFlightMessage claimed = rig.hold();
        rig.time.passMonotonic(Duration.ofSeconds(27));
        rig.time.passWall(Duration.ofHours(-1));

        rig.pipeline.deliver(claimed);

        assertReleasedUnsent();
    }

    @Test
    void deliveryDoesNotBeginUnderALeaseKnownToBeLost() {
        InFlightMessage claimed = rig.hold();
        claimed.validity().lose();

        rig.pipeline.deliver(claimed);

        assertReleasedUnsent();
    }

    @Test
    void nothingIsSentAfterTheClose() {
        rig.pipeline.close();

        rig.pipeline.deliver(rig.hold());

        assertReleasedUnsent();
    }

    @Test
    void messageThatHasHadItsAttemptsIsNotSent() {
        rig.pipeline.deliver(rig.hold(rig.store.next("orders", 6)));

        assertThat(rig.sent).isEmpty();
        assertThat(outcome())
                .isInstanceOfSatisfying(
                        Outcome.Buried.class,
                        buried -> assertThat(buried.reason()).isEqualTo(DeadReason.ATTEMPTS_EXHAUSTED));
    }

    private void assertReleasedUnsent() {
        assertThat(rig.sent).isEmpty();
        assertThat(outcome()).isInstanceOf(Outcome.Released.class);
        assertThat(rig.events(Event.Released.class)).hasSize(1);
    }

    @Test
    void transportThatThrowsHasFailed() {
        for (Throwable thrown : List.of(
                new IllegalStateException("boom"),
                new StackOverflowError(),
                new LinkageError("x"),
                new Exception("sneaky"))) {
            rig.answer = delivery -> {
                throw sneaky(thrown);
            };
            rig.pipeline.deliver(rig.hold());

            assertThat(retry().error()).startsWith(thrown.getClass().getName());
        }
    }

    @Test
    void stageThatFailsHasFailedWithItsInnermostCause() {
        rig.answer = delivery -> CompletableFuture.failedFuture(
                new CompletionException(new ExecutionException(new IllegalStateException("boom"))));

        rig.pipeline.deliver(rig.hold());

        assertThat(retry().error()).isEqualTo("java.lang.IllegalStateException: boom");
    }

    @Test
    void transportThatAnswersNothingHasFailed() {
        rig.answer = delivery -> CompletableFuture.completedFuture(null);
        rig.pipeline.deliver(rig.hold());
        assertThat(retry().error()).isEqualTo("The transport gave no answer");
    }

    @Test
    @SuppressWarnings("NullAway") // a transport written without it
    void transportThatReturnsNoStageHasFailed() {
        rig.answer = delivery -> null;
        rig.pipeline.deliver(rig.hold());
        assertThat(retry().error()).isEqualTo("The transport gave no answer");
    }

    @Test
    void exceptionThatThrowsItselfCostsNoOutcome() {
        rig.answer = delivery -> CompletableFuture.failedFuture(new RuntimeException() {
            @Override
            public String getMessage() {
                throw new IllegalStateException("no message for you");
            }
        });

        rig.pipeline.deliver(rig.hold());

        assertThat(retry().error()).contains("could not be read");
    }

    @Test
    void silentTransportIsGivenUpAfterItsTimeoutAndASecond() {
        CompletableFuture<DeliveryResult> silent = new CompletableFuture<>();
        rig.answer = delivery -> silent;
        InFlightMessage claimed = rig.hold();
        rig.pipeline.deliver(claimed);

        rig.time.pass(Duration.ofSeconds(11));
        rig.pipeline.giveUpOverdue(rig.inFlight.all());
        assertThat(claimed.isDecided()).isFalse();

        rig.time.pass(Duration.ofMillis(1));
        rig.pipeline.giveUpOverdue(rig.inFlight.all());
        assertThat(retry().error()).contains("no answer within its timeout");
        assertThat(rig.inFlight.count()).isZero();

        silent.complete(DeliveryResult.delivered());
        rig.writer.runOnce();
        assertThat(rig.store.written).as("what comes too late is passed over").hasSize(1);
    }

    @Test
    void claimThatWaitsForItsDeliveryIsNotOverdue() {
        InFlightMessage claimed = rig.hold();
        rig.time.pass(Duration.ofHours(1));

        rig.pipeline.giveUpOverdue(rig.inFlight.all());

        assertThat(claimed.isDecided()).isFalse();
    }

    @Test
    void secondAnswerOfATransportIsPassedOver() {
        InFlightMessage claimed = rig.hold();
        rig.pipeline.deliver(claimed);
        rig.pipeline.deliver(claimed);

        rig.writer.runOnce();

        assertThat(rig.store.written).hasSize(1);
        assertThat(rig.inFlight.count()).isZero();
    }

    private Outcome outcome() {
        rig.writer.runOnce();
        return rig.store.written.get(rig.store.written.size() - 1);
    }

    private Outcome.Retry retry() {
        return (Outcome.Retry) outcome();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    static <X extends Throwable> RuntimeException sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }
}
