package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;

/** The outcomes of messages, from the journals of the workers. */
final class Outcomes {

    enum Kind {
        ACKNOWLEDGED,
        LOST,
        FAILED,
        BURIED,
        PARKED
    }

    final List<Kind> kinds = new ArrayList<>();
    final Ints message = new Ints(-1);
    final Longs time = new Longs(0);

    /** The process, by its index in the list of workers. */
    final Ints worker = new Ints(-1);

    final Ints attempt = new Ints(0);
    final Longs delay = new Longs(0);
    final Ints reason = new Ints(-1);

    Kind kind(int row) {
        return kinds.get(row);
    }

    int size() {
        return message.size();
    }
}
