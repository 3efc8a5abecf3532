package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The latency after the commit under a light load. */
final class LatencyOfPeers implements Measurement {

    static final int PER_SECOND = 500;

    @Override
    public List<String> names() {
        return List.of(
                "latency_p50_vs_best_peer",
                "latency_p99_vs_best_peer",
                "latency_p50_vs_best_peer_ordered",
                "latency_p99_vs_best_peer_ordered");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return true;
    }

    @Override
    public double minutes() {
        return 4;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        Duration duration = bench.scale().steady();
        List<String> notes = new ArrayList<>();
        try (Field field = new Field()) {
            Rounds<Latencies> rounds = bench.rounds("latency");
            for (Contender each : List.of(
                    PostriderContender.archiving(arena, new Probe(arena.pool())),
                    PostriderContender.ordered(arena, new Probe(arena.pool())))) {
                field.add(each);
                rounds.system(each.name(), () -> Latencies.of(arena, each, PER_SECOND, duration));
            }
            for (Peer peer : bench.peers()) {
                if (peer.isSlowToNotice()) {
                    notes.add(peer.displayName() + " looks every five seconds and was left out");
                    continue;
                }
                Contender contender = field.add(peer.forLatency(arena, new Probe(arena.pool())));
                rounds.system(contender.name(), () -> Latencies.of(arena, contender, PER_SECOND, duration));
            }
            rounds.run();
            notes.addAll(rounds.notes());
            String question = PER_SECOND + " transactions/s: from commit to delivery";
            Comparison median = Comparison.ofLess(question + ", median", "ms", rounds.samples(Latencies::p50), notes);
            Comparison tail = Comparison.ofLess(
                    question + ", 99th percentile",
                    "ms",
                    rounds.samples(Latencies::p99),
                    notes,
                    LatencyTables.of(rounds.bySystem()));
            return List.of(
                    median.ratioToBestPeer(names().get(0), Aim.atMost(1), "postrider"),
                    tail.ratioToBestPeer(names().get(1), Aim.atMost(1), "postrider"),
                    median.ratioToBestPeer(names().get(2), Aim.atMost(3), "postrider ordered"),
                    tail.ratioToBestPeer(names().get(3), Aim.atMost(3), "postrider ordered"));
        }
    }
}
