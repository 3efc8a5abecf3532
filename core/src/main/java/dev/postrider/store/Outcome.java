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
}
