package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.benchmarks.report.Samples;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The statements of a node without work. All systems are measured at the same time. */
final class Idle implements Measurement {

    @Override
    public List<String> names() {
        return List.of("idle_statements_per_second");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return true;
    }

    @Override
    public double minutes() {
        return 1;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        Duration quiet = bench.scale().quiet();
        Map<String, Probe> probes = new LinkedHashMap<>();
        try (Field field = new Field()) {
            start(field, PostriderContender.archiving(arena, probe("postrider", arena, probes)));
            for (Peer peer : bench.peers()) {
                start(field, peer.forLatency(arena, probe(peer.displayName(), arena, probes)));
            }
            Thread.sleep(quiet.toMillis() / 3); // excludes the startup
            Map<String, Long> before = new LinkedHashMap<>();
            probes.forEach((name, probe) -> before.put(name, probe.statements()));
            long start = System.nanoTime();
            Thread.sleep(quiet.toMillis());
            double seconds = (System.nanoTime() - start) / 1e9;
            Map<String, Samples> systems = new LinkedHashMap<>();
            probes.forEach((name, probe) ->
                    systems.put(name, Samples.of((probe.statements() - before.getOrDefault(name, 0L)) / seconds)));
            Comparison comparison = Comparison.ofLess(
                    "Statements of a node that delivers while there is nothing to deliver",
                    "statements/s",
                    systems,
                    List.of("db-scheduler with the settings that are best for its latency: polls every 50 ms"));
            return List.of(comparison.itself(names().get(0), Aim.atMost(1), "postrider", "a second"));
        }
    }

    private static Probe probe(String name, Arena arena, Map<String, Probe> probes) {
        Probe probe = new Probe(arena.pool());
        probes.put(name, probe);
        return probe;
    }

    private static void start(Field field, Contender contender) throws Exception {
        field.add(contender);
        contender.clear();
        contender.start(new Receiver(1));
    }
}
