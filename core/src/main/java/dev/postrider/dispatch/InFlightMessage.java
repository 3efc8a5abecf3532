package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.RowClaim;
import dev.postrider.internal.trace.SafeSpan;
import dev.postrider.store.Claim;
import dev.postrider.store.LaneOutcome;
import java.time.Duration;
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
    private final @Nullable String unreadable;
    private final long startedNanos;
    private final AtomicBoolean decided = new AtomicBoolean();
    private final AtomicBoolean rowReserved = new AtomicBoolean();
    private volatile long deliveringSince;
    private volatile boolean delivering;
    private volatile boolean started;

    /** Whether it has a slot. Set and guarded by {@link InFlight}. */
    boolean hasSlot;

    /** The queue of its key. Set and guarded by its {@link Sequencer}. */
    OwnedLane.@Nullable KeyQueue key;

    private volatile long answerBy;
    private volatile @Nullable Thrown cause;
    private volatile @Nullable SafeSpan span;

    /** The exception that an error text was made from. */
    private record Thrown(String error, Throwable thrown) {}

    /** @param handedOver whether it was inserted with its lease by the local hand-over */
    private record Source(
            Claim claim,
            @Nullable LaneClaim inLane,
            boolean handedOver,
            @Nullable String unreadable) {}

    private InFlightMessage(Topic topic, Source source, LeaseValidity validity, LeaseValidity.Stamp asked) {
        this.topic = topic;
        this.claim = source.claim();
        this.inLane = source.inLane();
        this.handedOver = source.handedOver();
        this.unreadable = source.unreadable();
        this.validity = validity;
        this.startedNanos = asked.nanos();
    }

    /** Creates a message that was claimed row by row. */
    InFlightMessage(Topic topic, Claim claim, LeaseValidity.Stamp asked) {
        this(topic, new Source(claim, null, false, null), new LeaseValidity(asked), asked);
    }

    /** Creates a message of a row that was claimed; the row may be unreadable. */
    static InFlightMessage claimed(Topic topic, RowClaim row, LeaseValidity.Stamp asked) {
        Source source = new Source(row.claim(), null, false, row.unreadable());
        return new InFlightMessage(topic, source, new LeaseValidity(asked), asked);
    }

    /** Creates a message of the local hand-over: it was inserted with its lease. */
    static InFlightMessage handedOver(Topic topic, Claim claim, LeaseValidity.Stamp asked) {
        return new InFlightMessage(topic, new Source(claim, null, true, null), new LeaseValidity(asked), asked);
    }

    /** Creates a message that was read from a lane. It shares the lease of the lane. */
    static InFlightMessage inLane(Topic topic, LaneClaim read, LeaseValidity lane, LeaseValidity.Stamp asked) {
        return new InFlightMessage(topic, new Source(read.claim(), read, false, read.unreadable()), lane, asked);
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

    /** Why the row of the message cannot be read; null for a message that can be delivered. */
    @Nullable
    String unreadable() {
        return unreadable;
    }

    /** Whether it was read from a lane, at this place. */
    boolean isAt(LaneClaim.Place place) {
        return inLane != null && inLane.place() == place;
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

    /** Sets the span of the attempt, which the outcome ends. */
    void tracedBy(SafeSpan attempt) {
        if (attempt.isTraced()) {
            span = attempt;
        }
    }

    /** The span of the attempt; null if it has not begun, or has none. */
    @Nullable
    SafeSpan span() {
        return span;
    }

    /** Ends the span of the attempt, if there is one. Only the first call counts. */
    void endSpan(LaneOutcome outcome) {
        SafeSpan attempt = span;
        if (attempt != null) {
            attempt.end(outcome.fold(new AttemptEnd(this)));
        }
    }

    /** Keeps the exception that an error text was made from, for the event of the outcome. */
    void threw(Throwable thrown, String error) {
        cause = new Thrown(error, thrown);
    }

    /**
     * Returns the exception that this error text was made from, or null. An exception that came after the outcome was
     * decided has another text.
     */
    @Nullable
    Throwable causeOf(String error) {
        Thrown last = cause;
        return last != null && last.error().equals(error) ? last.thrown() : null;
    }

    /** Marks the start of the delivery, which must end within this time. */
    void startDelivery(Platform time, Duration atMost) {
        deliveringSince = time.nanos();
        answerBy = deliveringSince + atMost.toNanos();
        delivering = true;
        started = true;
    }

    /** Returns the time since the start of the delivery; null if none was started. */
    @Nullable
    Duration sinceDelivery(Platform time) {
        return started ? Duration.ofNanos(time.nanos() - deliveringSince) : null;
    }

    /** Marks the message as not being delivered at the moment. No result is expected. */
    void pauseDelivery() {
        delivering = false;
    }

    /**
     * Reserves the row of the message for one thread; false while another thread has it. A transaction that handles the
     * message keeps the row locked, and an extension of the lease would wait for that lock.
     */
    boolean tryReserveRow() {
        return rowReserved.compareAndSet(false, true);
    }

    void freeRow() {
        rowReserved.set(false);
    }

    boolean isBeingDelivered() {
        return delivering && !isDecided();
    }

    boolean isBeingDeliveredForLongerThan(Duration limit, Platform time) {
        return isBeingDelivered() && time.nanos() - deliveringSince > limit.toNanos();
    }

    boolean isOverdue(Platform time) {
        return isBeingDelivered() && time.nanos() - answerBy > 0;
    }

    long bytes() {
        return claim.message().payload().size();
    }

    Duration sinceStart(Platform time) {
        return Duration.ofNanos(time.nanos() - startedNanos);
    }
}
