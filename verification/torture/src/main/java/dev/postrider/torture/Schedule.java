package dev.postrider.torture;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** All faults of a run, by time. The same seed, length and kinds make the same schedule. Immutable. */
record Schedule(List<PlannedFault> faults) {

    /** Faults begin after the first and end before the second share of the run's time. */
    private static final double BEGIN = 0.04;

    private static final double END = 0.93;

    Schedule {
        faults = List.copyOf(faults);
    }

    static Schedule of(long seed, int seconds, Set<FaultKind> kinds) {
        Random random = new Random(seed);
        int begin = (int) (seconds * 1000 * BEGIN);
        int end = (int) (seconds * 1000 * END);
        List<PlannedFault> faults = new ArrayList<>();
        for (FaultKind kind : new TreeSet<>(kinds)) {
            for (int i = kind.times(seconds); i > 0; i--) {
                faults.add(fault(kind, begin, end, random));
            }
        }
        faults.sort(Comparator.comparingInt(PlannedFault::atMillis));
        return new Schedule(faults);
    }

    /** A fault takes at most an eighth of the run, or its shortest duration if that is longer. */
    private static PlannedFault fault(FaultKind kind, int begin, int end, Random random) {
        int longest = Math.max(kind.shortest(), Math.min(kind.longest(), (end - begin) / 8));
        int length = kind.shortest() + random.nextInt(longest - kind.shortest() + 1);
        int at = begin + random.nextInt(Math.max(1, end - begin - length));
        return new PlannedFault(kind, at, length, random.nextInt(Integer.MAX_VALUE));
    }
}
