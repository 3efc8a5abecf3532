package dev.postrider.dispatch;

import dev.postrider.store.Claim;
import dev.postrider.store.LaneClaim;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A message in this node's hands, from before the statement that claimed or read it was sent until its outcome is written. */
final class Held {

    private final Topic topic;
    private final Claim claim;
    private final @Nullable LaneClaim inLane;
    private final Tenure tenure;
    private final boolean born;
    private final long startedNanos;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final Semaphore row = new Semaphore(1);
    private volatile boolean begun;

    /** Whether it takes a slot; kept and guarded by {@link InFlight}. */
    boolean hasSlot;

    /** Where it stands among the messages of its key; kept and guarded by its {@link Sequencer}. */
    @Nullable
    KeyLine line;

    private volatile long answerBy;

    private Held(Topic topic, Claim claim, @Nullable LaneClaim inLane, Tenure tenure, boolean born, long startedNanos) {
        this.topic = topic;
        this.claim = claim;
        this.inLane = inLane;
        this.tenure = tenure;
        this.born = born;
        this.startedNanos = startedNanos;
    }

    /** Claimed by itself. */
    Held(Topic topic, Claim claim, Tenure.Stamp asked) {
        this(topic, claim, null, new Tenure(asked), false, asked.nanos());
    }

    /** Inserted under the lease that it is held by. */
    static Held born(Topic topic, Claim claim, Tenure.Stamp asked) {
        return new Held(topic, claim, null, new Tenure(asked), true, asked.nanos());
    }

    /** Read from a lane, and held as long as that is. */
    static Held inLane(Topic topic, LaneClaim read, Tenure lane, Tenure.Stamp asked) {
        return new Held(topic, read.claim(), read, lane, false, asked.nanos());
    }

    Topic topic() {
        return topic;
    }

    Claim claim() {
        return claim;
    }

    /** Null for a message that was claimed by itself. */
    @Nullable
    LaneClaim inLane() {
        return inLane;
    }

    /** Whether it was never claimed, so that no claim waits for its slot. */
    boolean isBorn() {
        return born;
    }

    Tenure tenure() {
        return tenure;
    }

    /** True for the first caller only: a message has one outcome. */
    boolean decide() {
        return decided.compareAndSet(false, true);
    }

    boolean isDecided() {
        return decided.get();
    }

    /** The delivery begins, and must have ended after this time. */
    void begin(Time time, Duration atMost) {
        answerBy = time.nanos() + atMost.toNanos();
        begun = true;
    }

    /** It is not being delivered at the moment, and nobody waits for an answer. */
    void rest() {
        begun = false;
    }

    /**
     * Only one at a time changes its row; false while another does. A transaction that handles the message keeps it locked, and
     * prolonging the lease would wait for it.
     */
    boolean tryKeepRow() {
        return row.tryAcquire();
    }

    void leaveRow() {
        row.release();
    }

    boolean isOverdue(Time time) {
        return begun && !isDecided() && time.nanos() - answerBy > 0;
    }

    long bytes() {
        return claim.message().payload().size();
    }

    Duration sinceStart(Time time) {
        return Duration.ofNanos(time.nanos() - startedNanos);
    }
}
