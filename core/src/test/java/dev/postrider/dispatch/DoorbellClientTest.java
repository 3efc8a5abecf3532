package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class DoorbellClientTest {

    private static final TopicName ORDERS = TopicName.of("orders");
    private static final TopicName AUDIT = TopicName.of("audit");

    private final ManualTime time = new ManualTime();
    private final RecordingLine line = new RecordingLine();
    private final DoorbellClient bell = new DoorbellClient(line, time, event -> {});

    /** Keeps what is rung, and hears what the test says. */
    private static final class RecordingLine implements Doorbell.Line {

        final BlockingQueue<Ring> rung = new LinkedBlockingQueue<>();
        final Queue<Heard> heard = new ConcurrentLinkedQueue<>();
        final AtomicBoolean broken = new AtomicBoolean();
        final BlockingQueue<Ring> refused = new LinkedBlockingQueue<>();
        final AtomicBoolean closed = new AtomicBoolean();

        @Override
        public void ring(Ring ring) {
            if (broken.get()) {
                refused.add(ring);
                throw FakeStore.unavailable();
            }
            rung.add(ring);
        }

        @Override
        public Heard listen(Duration atMost) {
            Heard next = heard.poll();
            return next == null ? Heard.nothingFor(Duration.ofMillis(1)) : next;
        }

        @Override
        public void close() {
            closed.set(true);
        }
    }

    @AfterEach
    void stop() {
        line.broken.set(false);
        time.pass(Duration.ofSeconds(1));
        bell.stop();
    }

    @Test
    void firstRingIsSentAtOnceAndTheNextOnesTogether() throws InterruptedException {
        bell.ring(Set.of(ORDERS));
        assertThat(next()).isEqualTo(new Ring(Set.of(ORDERS)));

        bell.ring(Set.of(ORDERS));
        bell.ring(Set.of(AUDIT));
        assertThat(line.rung).isEmpty();

        time.pass(Duration.ofMillis(50));
        assertThat(next()).isEqualTo(new Ring(Set.of(ORDERS, AUDIT)));
        assertThat(line.rung).isEmpty();
    }

    @Test
    void ringForAnywhereCoversTheTopics() throws InterruptedException {
        bell.ring(Set.of(ORDERS));
        next();
        bell.ring(Set.of(AUDIT));
        bell.ringAnywhere();
        time.pass(Duration.ofMillis(50));

        assertThat(next()).isEqualTo(Ring.ANYWHERE);
    }

    @Test
    void ringThatCouldNotBeSentIsSentLater() throws InterruptedException {
        line.broken.set(true);
        bell.ring(Set.of(ORDERS));
        assertThat(line.refused.poll(20, TimeUnit.SECONDS)).isNotNull();
        time.pass(Duration.ofMillis(50));

        line.broken.set(false);

        assertThat(next()).isEqualTo(new Ring(Set.of(ORDERS)));
    }

    @Test
    void othersAreHeard() throws InterruptedException {
        BlockingQueue<Ring> heard = new LinkedBlockingQueue<>();
        line.heard.addAll(List.of(Heard.nothing(), Heard.ring(new Ring(Set.of(AUDIT)))));

        bell.listen(heard::add);

        assertThat(heard.poll(20, TimeUnit.SECONDS)).isEqualTo(new Ring(Set.of(AUDIT)));
    }

    @Test
    void lastRingIsSentBeforeTheLineIsFreed() {
        bell.ring(Set.of(ORDERS));

        bell.stop();

        assertThat(line.rung).containsExactly(new Ring(Set.of(ORDERS)));
        assertThat(line.closed).isTrue();
    }

    private Ring next() throws InterruptedException {
        Ring ring = line.rung.poll(20, TimeUnit.SECONDS);
        assertThat(ring).isNotNull();
        return ring;
    }
}
