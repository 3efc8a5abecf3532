package dev.postrider.checker;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The changes of state of messages, in the order in which they were made. */
final class Changes {

    final Ints message = new Ints(-1);
    final Longs time = new Longs(0);

    /** The token of the row after the change; for a removed row, its last token. */
    final Ints token = new Ints(-1);

    /** The end of the lease that the row had before, or zero. */
    final Longs leaseEnd = new Longs(0);

    private final List<Step> steps = new ArrayList<>();

    /** Shared instances: there are millions of changes, and a few dozen kinds of step. */
    private final Map<Step, Step> known = new HashMap<>();

    /** @return the row of the change */
    int add(int changed, Step step) {
        steps.add(known.computeIfAbsent(step, first -> first));
        return message.add(changed);
    }

    Step step(int row) {
        return steps.get(row);
    }

    int size() {
        return steps.size();
    }
}
