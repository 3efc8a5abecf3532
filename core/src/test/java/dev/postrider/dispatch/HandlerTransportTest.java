package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.PermanentFailureException;
import dev.postrider.transport.RetryLaterException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class HandlerTransportTest {

    private static final Delivery DELIVERY =
            new Delivery(Message.to("orders").type("thing").text("x").build(), 1);

    private final ExecutorService oneThread = Executors.newSingleThreadExecutor();

    @AfterEach
    void shutDown() {
        oneThread.shutdownNow();
    }

    @Test
    void handlerThatReturnsHasDelivered() throws Exception {
        assertThat(run(delivery -> {})).isEqualTo(DeliveryResult.delivered());
    }

    @Test
    void handlerThatThrowsHasFailedWithClassAndMessage() throws Exception {
        assertThat(thrown(new IOException("refused"))).isEqualTo(DeliveryResult.failed("java.io.IOException: refused"));
        assertThat(thrown(new IllegalStateException((String) null)))
                .isEqualTo(DeliveryResult.failed("java.lang.IllegalStateException"));
        assertThat(thrown(new IllegalStateException("outer", new IOException("inner"))))
                .isEqualTo(DeliveryResult.failed(
                        "java.lang.IllegalStateException: outer; caused by java.io.IOException: inner"));
    }

    @Test
    void exceptionOfTheHandlerIsKeptForTheEventWithItsText() {
        IOException refused = new IOException("refused");
        Topic topic = topic(delivery -> {
            throw refused;
        });
        InFlightMessage claimed = claimed(topic);

        DeliveryResult classified = answer(topic, Runnable::run)
                .handle((result, failure) -> ThrowableClassifier.classify(claimed, failure))
                .join();

        assertThat(classified).isEqualTo(DeliveryResult.failed("java.io.IOException: refused"));
        assertThat(claimed.causeOf("java.io.IOException: refused")).isSameAs(refused);
        assertThat(claimed.causeOf("The handler gave no answer within PT2S")).isNull();
    }

    @Test
    void handlerThatThrowsAnErrorHasFailed() throws Exception {
        assertThat(thrown(new StackOverflowError())).isEqualTo(DeliveryResult.failed("java.lang.StackOverflowError"));
        assertThat(thrown(new AssertionError("no"))).isEqualTo(DeliveryResult.failed("java.lang.AssertionError: no"));
        assertThat(thrown(new ThreadDeath())).isEqualTo(DeliveryResult.failed("java.lang.ThreadDeath"));
        assertThat(run(HandlerTransportTest::recurse)).isInstanceOf(DeliveryResult.Failed.class);
    }

    private static void recurse(Delivery delivery) {
        if (delivery.attempt() > 0) {
            recurse(new Delivery(delivery.message(), delivery.attempt()));
        }
    }

    @Test
    void handlerThatWasInterruptedHasFailed() throws Exception {
        assertThat(thrown(new InterruptedException("sleep")))
                .isEqualTo(DeliveryResult.failed("java.lang.InterruptedException: sleep"));
    }

    @Test
    void exceptionThatIsItsOwnCauseEnds() throws Exception {
        Exception self = new Exception("round") {
            @Override
            public synchronized Throwable getCause() {
                return this;
            }
        };
        Exception a = new Exception("a");
        a.initCause(new Exception("b", a));

        assertThat(((DeliveryResult.Failed) thrown(self)).error()).endsWith(": round");
        assertThat(((DeliveryResult.Failed) thrown(a)).error()).hasSizeLessThan(500);
    }

    @Test
    void hugeMessageIsCut() throws Exception {
        DeliveryResult.Failed failed = (DeliveryResult.Failed) thrown(new Exception("x".repeat(50_000_000)));

        assertThat(failed.error()).hasSizeLessThan(20_000);
    }

    @Test
    void permanentAndLaterAreUnderstood() throws Exception {
        assertThat(thrown(new PermanentFailureException("never"))).isInstanceOf(DeliveryResult.Rejected.class);
        assertThat(thrown(new RetryLaterException("busy", Duration.ofSeconds(7))))
                .isInstanceOfSatisfying(
                        DeliveryResult.Failed.class,
                        failed -> assertThat(failed.retryAfter()).isEqualTo(Duration.ofSeconds(7)));
    }

    @Test
    void predicateThatThrowsTheSameExceptionAgainDoesNoHarm() throws Exception {
        Topic topic = Topic.named("orders")
                .deliver(delivery -> {
                    throw new IllegalStateException("boom");
                })
                .permanentOn(failure -> {
                    throw (RuntimeException) failure;
                })
                .build();

        assertThat(run(topic, oneThread)).isEqualTo(DeliveryResult.failed("java.lang.IllegalStateException: boom"));
    }

    @Test
    void handlerThatTakesTooLongIsInterruptedAndHasFailed() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        Topic topic = Topic.named("orders")
                .deliver(delivery -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                    }
                })
                .handlerTimeout(Duration.ofSeconds(2)) // long enough for it to begin
                .build();

        assertThat(run(topic, oneThread)).isEqualTo(DeliveryResult.failed("The handler gave no answer within PT2S"));
        assertThat(interrupted.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void handlerThatIgnoresItsInterruptionIsGivenUp() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Topic topic = Topic.named("orders")
                .deliver(delivery -> ignoringInterrupts(release))
                .handlerTimeout(Duration.ofMillis(50))
                .build();

        assertThat(run(topic, oneThread)).isInstanceOf(DeliveryResult.Failed.class);
        release.countDown();
    }

    private static void ignoringInterrupts(CountDownLatch release) {
        while (true) {
            try {
                release.await();
                return;
            } catch (InterruptedException e) {
                // as asked
            }
        }
    }

    @Test
    void interruptionDoesNotReachTheNextHandlerOfTheThread() throws Exception {
        AtomicBoolean leaked = new AtomicBoolean();
        Topic slow = Topic.named("orders")
                .deliver(delivery -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                })
                .handlerTimeout(Duration.ofMillis(20))
                .build();
        run(slow, oneThread);

        run(topic(delivery -> leaked.set(Thread.currentThread().isInterrupted())), oneThread);

        assertThat(leaked).isFalse();
    }

    private DeliveryResult thrown(Throwable thrown) throws Exception {
        return run(delivery -> {
            throw DeliveryPipelineTest.sneaky(thrown);
        });
    }

    private DeliveryResult run(DeliveryHandler handler) throws Exception {
        return run(topic(handler), Runnable::run);
    }

    private static Topic topic(DeliveryHandler handler) {
        return Topic.named("orders").deliver(handler).build();
    }

    private static DeliveryResult run(Topic topic, Executor threads) throws Exception {
        InFlightMessage claimed = claimed(topic);
        try {
            return answer(topic, threads).get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return ThrowableClassifier.classify(claimed, e);
        }
    }

    private static CompletableFuture<DeliveryResult> answer(Topic topic, Executor threads) {
        TopicDestination.ByHandler destination = (TopicDestination.ByHandler) topic.destination();
        return new HandlerTransport(topic, destination.handler(), threads)
                .deliver(DELIVERY)
                .toCompletableFuture();
    }

    private static InFlightMessage claimed(Topic topic) {
        return new InFlightMessage(topic, new FakeStore().next("orders", 1), LeaseValidity.Stamp.now(new ManualTime()));
    }
}
