package dev.postrider.dispatch;

import java.time.Duration;

/**
 * The pause before another try of a step that fails repeatedly. It doubles each time, up to a second. Not thread-safe.
 */
final class Backoff {

    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private Duration next = SHORTEST;

    Duration next() {
        Duration pause = next;
        Duration doubled = pause.multipliedBy(2);
        next = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
        return pause;
    }

    void reset() {
        next = SHORTEST;
    }
}
