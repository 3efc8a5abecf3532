package dev.postrider.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One measured thing, for every system.
 *
 * @param clients the part of it that belongs to the client, if it has parts; otherwise empty
 */
public record Series(String unit, boolean lessIsBetter, Map<String, Samples> systems, Map<String, Samples> clients) {

    public Series {
        systems = new LinkedHashMap<>(systems);
        clients = new LinkedHashMap<>(clients);
    }

    public static Series ofLess(String unit, Map<String, Samples> systems) {
        return new Series(unit, true, systems, Map.of());
    }

    public static Series ofLess(String unit, Map<String, Samples> systems, Map<String, Samples> clients) {
        return new Series(unit, true, systems, clients);
    }

    public static Series ofMore(String unit, Map<String, Samples> systems) {
        return new Series(unit, false, systems, Map.of());
    }

    /** The number that a full bar stands for. */
    double most() {
        return systems.values().stream().mapToDouble(Samples::max).max().orElse(1);
    }
}
