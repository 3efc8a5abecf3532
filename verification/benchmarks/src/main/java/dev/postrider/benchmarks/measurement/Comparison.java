package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.benchmarks.report.Samples;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** The raw figures of one question, from which ratios are computed. */
record Comparison(String question, String unit, Map<String, Samples> systems, List<String> notes) {

    /** The ratio of one system to another, round by round. */
    Figure ratio(String name, Aim aim, String ours, String against) {
        Samples ratio = samples(ours).combine(samples(against), (one, other) -> one / other);
        return new Figure(name, question, aim, ratio, against, unit, systems, notes);
    }

    /** A value that is compared only with its aim. */
    Figure itself(String name, Aim aim, String ours, String per) {
        return new Figure(name, question, aim, samples(ours), per, unit, systems, notes);
    }

    /** The ratio to the best peer: the one with the largest median, or the smallest if the aim is a maximum. */
    Figure ratioToBestPeer(String name, Aim aim, String ours) {
        Comparator<Peer> byMedian =
                Comparator.comparingDouble(peer -> samples(peer.displayName()).median());
        Peer best = Arrays.stream(Peer.values())
                .filter(peer -> systems.containsKey(peer.displayName()))
                .max(aim.isMinimum() ? byMedian : byMedian.reversed())
                .orElseThrow(() -> new IllegalStateException("No peer was measured: " + notes));
        return ratio(name, aim, ours, best.displayName());
    }

    private Samples samples(String system) {
        Samples samples = systems.get(system);
        if (samples == null) {
            throw new IllegalStateException(system + " was not measured: " + notes);
        }
        return samples;
    }
}
