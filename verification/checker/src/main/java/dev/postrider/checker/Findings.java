package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Counts violations of an invariant, and keeps the first examples. */
final class Findings {

    private static final int EXAMPLES = 5;

    private final List<String> examples = new ArrayList<>();
    private long times;

    /** Adds a violation. The text is built only for the first examples: there may be a million violations. */
    void add(Supplier<String> example) {
        times++;
        if (examples.size() < EXAMPLES) {
            examples.add(example.get());
        }
    }

    void require(boolean condition, Supplier<String> example) {
        if (!condition) {
            add(example);
        }
    }

    Verdict verdict(long checked, String what) {
        if (times > 0) {
            String more = times > examples.size() ? "; and " + (times - examples.size()) + " more" : "";
            return new Verdict.Violated(times, String.join("; ", examples) + more);
        }
        return checked == 0
                ? new Verdict.NotChecked("there was nothing to check: 0 " + what)
                : new Verdict.Holds(checked, checked + " " + what);
    }
}
