package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;

/** Counts the outcomes of messages. Thread-safe. */
final class OutcomeCounters {

    private long delivered;
    private long failed;
    private long buried;
    private long released;
    private long parked;
    private long lost;
    private long blocked;

    synchronized void count(Outcome outcome, Settlement settlement) {
        if (settlement.isLost()) {
            lost++;
        } else if (outcome instanceof Outcome.Delivered || outcome instanceof Outcome.Handled) {
            delivered++;
        } else if (outcome instanceof Outcome.Retry || outcome instanceof Outcome.RetryOutOfOrder) {
            failed++;
        } else if (outcome instanceof Outcome.Buried) {
            buried++;
        } else if (outcome instanceof Outcome.Parked) {
            parked++;
        } else if (outcome instanceof Outcome.Blocked) {
            blocked++;
        } else {
            released++;
        }
    }

    synchronized OutcomeCounters copy() {
        OutcomeCounters copy = new OutcomeCounters();
        copy.delivered = delivered;
        copy.failed = failed;
        copy.buried = buried;
        copy.parked = parked;
        copy.released = released;
        copy.lost = lost;
        copy.blocked = blocked;
        return copy;
    }

    /** The sum of both counters. */
    static OutcomeCounters sum(OutcomeCounters one, OutcomeCounters other) {
        OutcomeCounters sum = one.copy();
        OutcomeCounters more = other.copy();
        sum.delivered += more.delivered;
        sum.failed += more.failed;
        sum.buried += more.buried;
        sum.parked += more.parked;
        sum.released += more.released;
        sum.lost += more.lost;
        sum.blocked += more.blocked;
        return sum;
    }

    synchronized Event.Settled since(OutcomeCounters before) {
        return new Event.Settled(
                (int) (delivered - before.delivered),
                (int) (failed - before.failed),
                (int) (buried - before.buried),
                (int) (parked - before.parked),
                (int) (released - before.released),
                (int) (lost - before.lost));
    }

    synchronized Event.Summary summary(OutcomeCounters before, int inFlight, Duration period) {
        return new Event.Summary(
                delivered - before.delivered,
                failed - before.failed,
                buried - before.buried,
                parked - before.parked,
                lost - before.lost,
                inFlight,
                period);
    }

    synchronized long attempts() {
        return delivered + failed + buried + parked + lost;
    }

    synchronized long total() {
        return attempts() + released + blocked;
    }
}
