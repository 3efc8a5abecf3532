package dev.postrider.checker;

import org.jspecify.annotations.Nullable;

/** The states of a message. A message that is not in the table is gone. */
enum State {
    GONE,
    PENDING,
    PROCESSING,
    SCHEDULED,
    RETRY,
    BLOCKED,
    PARKED,
    DEAD;

    static State of(@Nullable String name) {
        return name == null || name.isEmpty() ? GONE : valueOf(name);
    }
}
