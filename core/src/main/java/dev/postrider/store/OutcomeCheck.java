package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Checks the parts of outcomes. */
final class OutcomeCheck {

    private OutcomeCheck() {}

    static void part(String name, @Nullable Object value) {
        if (value == null) {
            throw new InvalidConfigurationException(name, "is missing: an outcome requires it");
        }
    }

    static void delay(@Nullable Duration delay) {
        if (delay == null || delay.isNegative() || delay.compareTo(Outcome.LONGEST_DELAY) > 0) {
            throw new InvalidConfigurationException(
                    "delay", "must be 0 to " + Outcome.LONGEST_DELAY.toDays() + " days, but is " + delay);
        }
    }
}
