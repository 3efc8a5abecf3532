package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Order;
import dev.postrider.benchmarks.contender.OrdersOnly;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.benchmarks.report.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The latency after the commit at half of the full load, in units of a durable one-row commit. */
final class LatencyInCommits implements Measurement {

    private static final int COMMITS = 300;

    @Override
    public List<String> names() {
        return List.of("latency_p50_vs_commit", "latency_p99_vs_commit");
    }

    /** One round: the latencies, the duration of a commit, and the load. */
    private record Round(Latencies latencies, double commitMillis, double perSecond) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT, "%s at %.0f/s, one commit takes %.2f ms", latencies, perSecond, commitMillis);
        }
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 1.5;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Contender postrider = field.add(PostriderContender.archiving(arena, new Probe(arena.pool())));
            Contender orders = field.add(new OrdersOnly(arena, arena.pool()));
            Rounds<Round> rounds = bench.<Round>rounds("latency in commits")
                    .system("postrider", () -> round(bench, postrider, orders))
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add("Half of the rate at which the same round's transactions went through without a dispatcher");
            Comparison p50 = comparison(
                    "median", rounds, notes, round -> round.latencies().p50());
            Comparison p99 = comparison(
                    "99th percentile", rounds, notes, round -> round.latencies().p99());
            return List.of(
                    p50.ratioToItself(names().get(0), Aim.atMost(5), "postrider", "one-row commit"),
                    p99.ratioToItself(names().get(1), Aim.atMost(25), "postrider", "one-row commit"));
        }
    }

    private static Comparison comparison(
            String which, Rounds<Round> rounds, List<String> notes, ToDoubleFunction<Round> latency) {
        Map<String, Samples> systems = new LinkedHashMap<>(rounds.samples(latency));
        rounds.samples(Round::commitMillis).forEach((name, samples) -> systems.put("one-row commit", samples));
        return Comparison.ofLess("Half of the full load: from commit to delivery, " + which, "ms", systems, notes);
    }

    private static Round round(Bench bench, Contender postrider, Contender orders) throws Exception {
        double perSecond = EnqueueRate.rate(bench, postrider).perSecond() / 2;
        double commit = commitMillis(bench.arena(), orders);
        Latencies latencies =
                Latencies.of(bench.arena(), postrider, perSecond, bench.scale().steady());
        return new Round(latencies, commit, perSecond);
    }

    private static double commitMillis(Arena arena, Contender orders) throws Exception {
        orders.clear();
        arena.settle();
        double[] millis = new double[COMMITS];
        for (int i = 0; i < COMMITS; i++) {
            long start = System.nanoTime();
            orders.transact(new Order(i));
            millis[i] = (System.nanoTime() - start) / 1e6;
        }
        return Latencies.percentile(millis, 0.5);
    }
}
