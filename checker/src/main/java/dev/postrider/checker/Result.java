package dev.postrider.checker;

import java.util.Locale;

/** What the receiver made of a message. */
enum Result {
    /** Nothing is known: it was not answered. */
    NONE,
    OK,
    REFUSED,
    POISON,
    /** Taken, and the answer was not sent. */
    DROPPED,
    /** Taken, and answered late. */
    SLOW;

    static Result of(Line line) {
        try {
            return valueOf(line.text("result").toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw line.unreadable("has a result that is not known");
        }
    }

    /** Whether the receiver has the message now. */
    boolean isTaken() {
        return this != REFUSED && this != POISON;
    }

    /** Whether the worker may not have been told, and has to send it again. */
    boolean isAnswerLost() {
        return this == DROPPED || this == SLOW || this == NONE;
    }
}
