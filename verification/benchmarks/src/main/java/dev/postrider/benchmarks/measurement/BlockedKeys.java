package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Whether many messages behind the refused heads of two keys slow down the other keys. */
final class BlockedKeys implements Measurement {

    private static final int KEYS = 2;

    private static final String NONE = "none blocked";
    private static final String MANY = "many blocked";

    @Override
    public List<String> names() {
        return List.of("blocked_keys_vs_none", "blocked_keys_latency_p99_vs_none");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        return List.of(rate(bench), latency(bench));
    }

    private Figure rate(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int blocked = bench.scale().blocked();
        int free = blocked / 2;
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.ordered(arena, arena.pool());
            field.add(postrider);
            Drain.rate(arena, postrider, free);
            Rounds<Double> rounds = bench.<Double>rounds("blocked keys")
                    .system(NONE, () -> Drain.rate(arena, postrider, free))
                    .system(MANY, () -> {
                        postrider.clear();
                        postrider.block(blocked, KEYS);
                        return Drain.again(arena, postrider, free);
                    })
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(blocked + " messages wait behind the first ones of " + KEYS + " keys, " + free
                    + " others are timed");
            Comparison comparison = new Comparison(
                    "The rate of an ordered topic while keys of it are blocked",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            return comparison.ratio(names().get(0), Aim.atLeast(0.9), MANY, NONE);
        }
    }

    private Figure latency(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int blocked = bench.scale().blocked();
        int perSecond = LatencyOfPeers.PER_SECOND;
        Duration duration = bench.scale().load().multipliedBy(2);
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.ordered(arena, new Probe(arena.pool()));
            field.add(postrider);
            Latencies.of(arena, postrider, perSecond, duration);
            Rounds<Latencies> rounds = bench.<Latencies>rounds("latency beside blocked keys")
                    .system(NONE, () -> Latencies.of(arena, postrider, perSecond, duration))
                    .system(MANY, () -> {
                        postrider.clear();
                        postrider.block(blocked, KEYS);
                        return Latencies.again(arena, postrider, perSecond, duration);
                    })
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(blocked + " messages wait behind the first ones of " + KEYS + " keys");
            Comparison comparison = new Comparison(
                    perSecond + " transactions/s of other keys: from commit to delivery, 99th percentile",
                    "ms",
                    rounds.samples(Latencies::p99),
                    notes);
            return comparison.ratio(names().get(1), Aim.atMost(1.1), MANY, NONE);
        }
    }
}
