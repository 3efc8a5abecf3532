package dev.postrider.checker;

import java.util.Locale;

/** The receiver's decision about a message. */
enum Result {
    /** Not known: there is no answer. */
    NONE,
    OK,
    REFUSED,
    POISON,
    /** Accepted, and the answer was not sent. */
    DROPPED,
    /** Accepted, and answered late. */
    SLOW;

    static Result of(Line line) {
        try {
            return valueOf(line.text("result").toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw line.unreadable("has a result that is not known");
        }
    }

    /** Whether the receiver may have accepted the message. */
    boolean isTaken() {
        return this != REFUSED && this != POISON;
    }

    /** Whether the answer may not have reached the worker, so that it has to send the message again. */
    boolean isAnswerLost() {
        return this == DROPPED || this == SLOW || this == NONE;
    }
}
