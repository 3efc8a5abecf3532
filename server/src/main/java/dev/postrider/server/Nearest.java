package dev.postrider.server;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Suggests a known name for an unknown one. Pure functions. */
final class Nearest {

    private Nearest() {}

    /** The known name with the fewest edits, unless they are more than half of its length. */
    static Optional<String> to(String name, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String candidate) -> distance(name, candidate))
                        .thenComparing(Comparator.naturalOrder()))
                .filter(candidate -> distance(name, candidate) <= candidate.length() / 2);
    }

    /** The number of inserted, deleted and replaced letters (Levenshtein), one row of the table at a time. */
    static int distance(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[to.length()];
    }
}
