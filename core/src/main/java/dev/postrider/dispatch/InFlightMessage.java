package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneClaim;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A message in flight on this node. Its time starts just before the statement that claims or reads it is sent, and ends
 * when its outcome is written.
 */
final class InFlightMessage {

    private final Topic topic;
    private final Claim claim;
    private final @Nullable LaneClaim inLane;
    private final LeaseValidity validity;
    private final boolean handedOver;
    private final long startedNanos;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final Semaphore row = new Semaphore(1);
    private volatile boolean begun;

    /** Whether it has a slot. Set and guarded by {@link InFlight}. */
    boolean hasSlot;

    /** The queue of its key. Set and guarded by its {@link Sequencer}. */
    @Nullable
    KeyQueue line;

    private volatile long answerBy;

    private InFlightMessage(
            Topic topic,
            Claim claim,
            @Nullable LaneClaim inLane,
            LeaseValidity validity,
            boolean handedOver,
            long startedNanos) {
        this.topic = topic;
        this.claim = claim;
        this.inLane = inLane;
        this.validity = validity;
        this.handedOver = handedOver;
        this.startedNanos = startedNanos;
    }

    /** Creates a message that was claimed row by row. */
    InFlightMessage(Topic topic, Claim claim, LeaseValidity.Stamp asked) {
        this(topic, claim, null, new LeaseValidity(asked), false, asked.nanos());
    }

    /** Creates a message of the local hand-over: it was inserted with its lease. */
    static InFlightMessage handedOver(Topic topic, Claim claim, LeaseValidity.Stamp asked) {
        return new InFlightMessage(topic, claim, null, new LeaseValidity(asked), true, asked.nanos());
    }

    /** Creates a message that was read from a lane. It shares the lease of the lane. */
    static InFlightMessage inLane(Topic topic, LaneClaim read, LeaseValidity lane, LeaseValidity.Stamp asked) {
        return new InFlightMessage(topic, read.claim(), read, lane, false, asked.nanos());
    }

    Topic topic() {
        return topic;
    }

    Claim claim() {
        return claim;
    }

    /** Null for a message that was not read from a lane. */
    @Nullable
    LaneClaim inLane() {
        return inLane;
    }

    /** Whether it comes from the local hand-over. No claim waits for its slot. */
    boolean isHandedOver() {
        return handedOver;
    }

    LeaseValidity validity() {
        return validity;
    }

    /** Returns true for the first caller only: a message has one outcome. */
    boolean decide() {
        return decided.compareAndSet(false, true);
    }

    boolean isDecided() {
        return decided.get();
    }

    /** Marks the start of the delivery, which must end within this time. */
    void begin(Platform time, Duration atMost) {
        answerBy = time.nanos() + atMost.toNanos();
        begun = true;
    }

    /** Marks the message as not being delivered at the moment. No result is expected. */
    void rest() {
        begun = false;
    }

    /**
     * Reserves the row of the message for one thread; false while another thread has it. A transaction that handles the
     * message keeps the row locked, and an extension of the lease would wait for that lock.
     */
    boolean tryKeepRow() {
        return row.tryAcquire();
    }

    void leaveRow() {
        row.release();
    }

    boolean isUnderWay() {
        return begun && !isDecided();
    }

    boolean isOverdue(Platform time) {
        return isUnderWay() && time.nanos() - answerBy > 0;
    }

    long bytes() {
        return claim.message().payload().size();
    }

    Duration sinceStart(Platform time) {
        return Duration.ofNanos(time.nanos() - startedNanos);
    }
}
