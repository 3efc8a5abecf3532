package dev.postrider.model;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Assumptions;

/** The slices that take TLC half of the time of all slices. Only the profile {@code full} looks at the whole of them. */
final class LongSlices {

    private static final Set<String> NAMES = Set.of("Lanes-takeover", "Lanes-keys", "Lanes-replay");
    private static final Set<String> PRINTED = ConcurrentHashMap.newKeySet();

    private LongSlices() {}

    /** Aborts the test of a long slice, and prints each such slice once, unless the profile is active. */
    static void assumeWanted(String slice) {
        if (!NAMES.contains(slice) || Boolean.getBoolean("postrider.full")) {
            return;
        }
        String notice = "NOT RUN: the model " + slice + "; ./mvnw verify -Pfull runs it";
        if (PRINTED.add(slice)) {
            System.err.println(notice);
        }
        Assumptions.abort(notice);
    }
}
