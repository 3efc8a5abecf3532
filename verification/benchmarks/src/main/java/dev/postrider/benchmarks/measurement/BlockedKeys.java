package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.Probe;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 5;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        return List.of(rate(bench.ofSlot(0.6)), latency(bench));
    }

    private Result rate(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int blocked = bench.scale().blocked();
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.ordered(arena, arena.pool());
            field.add(postrider);
            Rounds<Performance> rounds = bench.burdenRounds("blocked keys");
            EqualDrains drains = new EqualDrains(bench, rounds, bench.scale().firstBacklog())
                    .without(NONE, postrider)
                    .with(MANY, postrider, () -> postrider.block(blocked, KEYS));
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain an ordered topic while keys of it are blocked",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of(String.format(
                            Locale.ROOT,
                            "%,d messages wait behind the first ones of %d keys, %,d others are timed",
                            blocked,
                            KEYS,
                            drains.messages())));
            return comparison.ratioToItself(names().get(0), Aim.atLeast(0.95), MANY, NONE);
        }
    }

    private Result latency(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int blocked = bench.scale().blocked();
        int perSecond = LatencyOfPeers.PER_SECOND;
        Duration duration = bench.scale().steady();
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.ordered(arena, new Probe(arena.pool()));
            field.add(postrider);
            Rounds<Latencies> rounds = bench.<Latencies>burdenRounds("latency beside blocked keys")
                    .system(
                            NONE,
                            () -> Latencies.of(arena, postrider, perSecond, duration),
                            () -> Latencies.of(arena, postrider, perSecond, duration))
                    .system(MANY, () -> {
                        postrider.clear();
                        postrider.block(blocked, KEYS);
                        return Latencies.again(arena, postrider, perSecond, duration);
                    })
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(blocked + " messages wait behind the first ones of " + KEYS + " keys");
            Comparison comparison = Comparison.ofLess(
                    perSecond + " transactions/s of other keys: from commit to delivery, 99th percentile",
                    "ms",
                    rounds.samples(Latencies::p99),
                    notes,
                    LatencyTables.of(rounds.bySystem()));
            return comparison.ratioToItself(names().get(1), Aim.atMost(1.1), MANY, NONE);
        }
    }
}
