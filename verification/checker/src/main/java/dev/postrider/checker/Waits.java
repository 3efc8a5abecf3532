package dev.postrider.checker;

import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * The waits of messages for their first delivery, in microseconds. A wait starts when the message is committed and, on an ordered
 * topic, the message before it in its key was delivered. Only quiet times count.
 */
final class Waits {

    /** Receives the wait of one message. */
    interface Counter {
        void count(int message, long wait);
    }

    private Waits() {}

    /** The rows of the intents by key, for delivered messages without a delivery time. */
    static Groups keys(Evidence evidence, IntPredicate which) {
        History history = evidence.history;
        Ints addresses = new Ints(-1);
        for (int row = 0; row < history.intents.size(); row++) {
            int message = history.intents.message.get(row);
            boolean counts = which.test(row)
                    && history.intents.deliverAt.get(row) == 0
                    && evidence.written(message) == row
                    && evidence.receipts().size(message) > 0;
            addresses.set(row, counts ? history.intents.address.get(row) : -1);
        }
        return Groups.of(addresses, history.names.size());
    }

    static void ofKey(Evidence evidence, Groups keys, int key, Quiet quiet, Counter counter) {
        History history = evidence.history;
        long[] inOrder = keys.rows(key)
                .mapToLong(row -> ((long) history.intents.number.get(row) << 32) | row)
                .toArray();
        Arrays.sort(inOrder);
        long taken = 0;
        for (long place : inOrder) {
            int row = (int) place;
            int message = history.intents.message.get(row);
            int first = evidence.receipts().row(message, 0);
            long came = history.receipts.time.get(first);
            int worker = history.receipts.worker.get(first);
            long committed = history.transactions.committedAt.get(history.intents.transaction.get(row));
            if (committed > 0 && quiet.was(history.intents.topic.get(row), worker, committed, came)) {
                counter.count(message, Math.max(0, came - Math.max(committed, taken)));
            }
            taken = history.intents.ordered.get(row) ? Math.max(taken, lastTime(evidence, message)) : 0;
        }
    }

    private static long lastTime(Evidence evidence, int message) {
        int size = evidence.receipts().size(message);
        return evidence.history.receipts.time.get(evidence.receipts().row(message, size - 1));
    }
}
