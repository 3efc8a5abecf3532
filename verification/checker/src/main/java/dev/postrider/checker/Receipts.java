package dev.postrider.checker;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** The deliveries that the receiver recorded, in their order. */
final class Receipts {

    final Ints message = new Ints(-1);
    final Longs time = new Longs(0);
    final Ints worker = new Ints(-1);
    final Ints attempt = new Ints(0);
    final List<Result> results = new ArrayList<>();

    /** The time at which the worker stopped waiting for the answer, if it did. */
    final Longs givenUp = new Longs(Long.MAX_VALUE);

    /** Whether hash, topic, tenant, key and number match the intent. */
    final BitSet same = new BitSet();

    /** {@code last}: the last row of a message. {@code previous}: the row before it of the same message. */
    final Ints last = new Ints(-1);

    final Ints previous = new Ints(-1);

    int add(int messageNumber, long at) {
        int row = message.add(messageNumber);
        time.set(row, at);
        results.add(Result.NONE);
        previous.set(row, last.get(messageNumber));
        last.set(messageNumber, row);
        return row;
    }

    Result result(int row) {
        return results.get(row);
    }

    int size() {
        return message.size();
    }
}
