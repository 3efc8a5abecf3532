package dev.postrider.store;

import java.time.Duration;

/** What came of a claim, to be written under its lease. Immutable. */
public sealed interface Outcome {

    Claim claim();

    /** The destination confirmed: the message leaves the live table, for good. */
    record Delivered(Claim claim) implements Outcome {}

    /** To be tried again after the delay, counted by the database's clock. */
    record Retry(Claim claim, Duration delay, String error) implements Outcome {}

    /** No further attempt: kept as a dead letter. */
    record Buried(Claim claim, DeadReason reason, String error) implements Outcome {}

    /** Not tried after all: back in the queue at once, and the attempt is given back. */
    record Released(Claim claim) implements Outcome {}

    /** In a lane: to be tried again after the delay, while the later messages of its key go on. */
    record Skipped(Claim claim, Duration delay, String error) implements Outcome {}

    /** In a lane: it waits for an operator, and so do the later messages of its key. */
    record Parked(Claim claim, DeadReason reason, String error) implements Outcome {}

    /** In a lane: not tried, because its key is held; it waits behind the first message of the key. */
    record Blocked(Claim claim) implements Outcome {}

    /** It was removed in the transaction that handled it. Nothing is left to write, except that in a lane its key goes on. */
    record Handled(Claim claim) implements Outcome {}

    /** It was no longer this claim's when it was to be handled: nothing was done, and nothing is written. */
    record Lost(Claim claim) implements Outcome {}
}
