package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.InlineInbox;
import dev.postrider.benchmarks.contender.InlineInboxByHand;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.List;

/** The cost of handling received messages once, in the transaction of their effect. */
final class InlineInboxRate implements Measurement {

    @Override
    public List<String> names() {
        return List.of("inbox_inline_vs_handwritten");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 1;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.rounds("inbox inline");
            for (Contender each : List.of(
                    field.add(new InlineInbox(arena, arena.pool())),
                    field.add(new InlineInboxByHand(arena, arena.pool())))) {
                rounds.system(each.name(), () -> EnqueueRate.warmUp(bench, each), () -> EnqueueRate.rate(bench, each));
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Received messages marked and handled, one order each, in one transaction",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of(Load.THREADS + " threads; every message is new"));
            return List.of(comparison.ratioToHand(names().get(0), Aim.atLeast(0.85), "inbox", "inbox by hand"));
        }
    }
}
