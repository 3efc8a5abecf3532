package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** Time intervals with faults. Queried for each of a million messages. */
final class Intervals {

    private final long[] begins;
    private final long[] ends;

    private Intervals(long[] begins, long[] ends) {
        this.begins = begins;
        this.ends = ends;
    }

    /** Merges overlapping faults to one interval. */
    static Intervals of(List<Fault> faults, Predicate<Fault> which) {
        List<Fault> sorted = faults.stream()
                .filter(which)
                .sorted(Comparator.comparingLong(Fault::from))
                .toList();
        List<long[]> merged = new ArrayList<>();
        for (Fault fault : sorted) {
            long[] last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
            if (last != null && fault.from() <= last[1]) {
                last[1] = Math.max(last[1], fault.to());
            } else {
                merged.add(new long[] {fault.from(), fault.to()});
            }
        }
        return new Intervals(
                merged.stream().mapToLong(interval -> interval[0]).toArray(),
                merged.stream().mapToLong(interval -> interval[1]).toArray());
    }

    boolean touch(long begin, long end) {
        int low = 0;
        int high = ends.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (ends[middle] < begin) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < begins.length && begins[low] <= end;
    }
}
