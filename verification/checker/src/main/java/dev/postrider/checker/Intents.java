package dev.postrider.checker;

import java.util.BitSet;

/** The messages that producers intended to write: one row for each message in a transaction. */
final class Intents {

    final Ints message = new Ints(-1);
    final Ints transaction = new Ints(-1);
    final Longs time = new Longs(0);
    final Ints topic = new Ints(-1);

    /** The number of topic, tenant and key together. */
    final Ints address = new Ints(-1);

    final Ints number = new Ints(0);
    final Longs hashHigh = new Longs(0);
    final Longs hashLow = new Longs(0);

    /** The number of topic, tenant and idempotency key together, or -1. */
    final Ints dedup = new Ints(-1);

    /** The earliest delivery time, or zero. */
    final Longs deliverAt = new Longs(0);

    final BitSet ordered = new BitSet();
    final BitSet kept = new BitSet();

    /**
     * {@code last}: the last row of a message. {@code previous}: the row before it of the same message, from an earlier attempt of
     * the transaction.
     */
    final Ints last = new Ints(-1);

    final Ints previous = new Ints(-1);

    int size() {
        return message.size();
    }
}
