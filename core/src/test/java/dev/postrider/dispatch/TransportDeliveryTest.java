package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A transport whose calls do not return. */
final class TransportDeliveryTest {

    private final Rig rig = new Rig("orders");
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch released = new CountDownLatch(1);

    @AfterEach
    void release() throws InterruptedException {
        released.countDown();
        for (Thread thread : threads) {
            thread.join(60_000);
            assertThat(thread.isAlive()).isFalse();
        }
    }

    @Test
    void messagesWaitForACallThatIsNotOverdue() throws Exception {
        block();
        deliver(3);
        eventually(() -> rig.sent.size() == 1);

        rig.time.pass(Duration.ofSeconds(10));
        rig.pipeline.giveUpOverdue(rig.inFlight.all());
        assertThat(rig.writer.unwritten()).isZero();
        assertThat(threads).hasSize(1);

        released.countDown();
        eventually(() -> rig.sent.size() == 3);
        eventually(() -> rig.writer.unwritten() == 3);
    }

    @Test
    void callThatDoesNotReturnIsLeftBehindAndTheOthersGoOn() throws Exception {
        block();
        deliver(2);
        eventually(() -> rig.sent.size() == 1);
        rig.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());

        giveUp();

        eventually(() -> rig.sent.size() == 2);
        eventually(() -> rig.writer.unwritten() == 2);
    }

    @Test
    void onlyAFewCallsAreLeftBehindAndOneThatReturnsLetsTheTopicGoOn() throws Exception {
        block();
        for (int call = 1; call <= 4; call++) {
            int sent = call;
            deliver(1);
            eventually(() -> rig.sent.size() == sent);
            giveUp();
        }
        assertThat(threads).hasSize(4);

        deliver(5);

        assertThat(rig.sent).hasSize(4);
        assertThat(threads).hasSize(4);
        assertThat(rig.writer.unwritten()).as("failed at once").isEqualTo(9);
        rig.answer = delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());
        released.countDown();
        eventually(() -> threads.stream().noneMatch(Thread::isAlive));
        deliver(2);
        eventually(() -> rig.sent.size() == 6);
    }

    @Test
    void messageThatWaitedForACallIsNotSentUnderAnOldLease() throws Exception {
        block();
        deliver(2);
        eventually(() -> rig.sent.size() == 1);
        rig.time.pass(Duration.ofSeconds(27));

        released.countDown();

        eventually(() -> rig.writer.unwritten() == 2);
        assertThat(rig.sent).hasSize(1);
        rig.writer.runOnce();
        assertThat(rig.store.written).hasAtLeastOneElementOfType(Outcome.Released.class);
    }

    @Test
    void drainReleasesWhatWaitsForACallAndLetsTheCallEnd() throws Exception {
        block();
        deliver(3);
        eventually(() -> rig.sent.size() == 1);

        rig.pipeline.drain();

        assertThat(rig.writer.unwritten()).isEqualTo(2);
        deliver(1);
        assertThat(rig.writer.unwritten()).as("claimed all the same").isEqualTo(3);
        released.countDown();
        eventually(() -> rig.writer.unwritten() == 4);
        assertThat(rig.sent).hasSize(1);
        rig.writer.runOnce();
        assertThat(rig.store.written)
                .filteredOn(Outcome.Delivered.class::isInstance)
                .hasSize(1);
        assertThat(rig.store.written)
                .filteredOn(Outcome.Released.class::isInstance)
                .hasSize(3);
    }

    @Test
    void messageFailsWhenNoThreadCanBeStarted() {
        rig.senders = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };

        deliver(2);

        assertThat(rig.writer.unwritten()).isEqualTo(2);
        rig.senders = Runnable::run;
        deliver(1);
        assertThat(rig.sent).hasSize(1);
    }

    private void block() {
        rig.senders = task -> {
            Thread thread = new Thread(task, "sender");
            threads.add(thread);
            thread.start();
        };
        rig.answer = delivery -> {
            try {
                assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        };
    }

    private void deliver(int count) {
        rig.hold(count).forEach(rig.pipeline::deliver);
    }

    private void giveUp() {
        rig.time.pass(Duration.ofMillis(11_001));
        rig.inFlight.all().forEach(claimed -> claimed.validity().renewed(LeaseValidity.Stamp.now(rig.time)));
        rig.pipeline.giveUpOverdue(rig.inFlight.all());
    }

    private static void eventually(Callable<Boolean> condition) throws Exception {
        CountDownLatch breath = new CountDownLatch(1);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.call()) {
            assertThat(System.nanoTime() - deadline).isNegative();
            assertThat(breath.await(5, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
