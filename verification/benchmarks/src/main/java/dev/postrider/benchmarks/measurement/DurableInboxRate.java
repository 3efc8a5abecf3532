package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.DurableInboxContender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.List;

/** The rate of handling received messages once, in transactions with their effect. */
final class DurableInboxRate implements Measurement {

    /** A smaller first backlog, since each message costs a durable commit, unless many share one. */
    private static final int PART = 5;

    @Override
    public List<String> names() {
        return List.of("inbox_durable_vs_handwritten", "inbox_durable_batched_vs_handwritten");
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
            Rounds<Performance> rounds = bench.rounds("inbox durable");
            for (Contender each : List.of(
                    field.add(DurableInboxContender.oneByOne(arena, arena.pool())),
                    field.add(DurableInboxContender.manyAtOnce(arena, arena.pool())),
                    field.add(HandWritten.effects(arena, arena.pool())))) {
                SizedDrain drain = new SizedDrain(bench, each);
                int first = Math.max(bench.scale().firstBacklog() / PART, 1);
                rounds.system(each.name(), () -> drain.warmUp(first), () -> round(arena, drain));
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Handle a backlog of received messages, one order each",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of("Four threads with a connection each; nothing is archived"));
            String byHand = "loop by hand, a transaction each";
            return List.of(
                    comparison.ratioToHand(names().get(0), Aim.atLeast(0.8), "durable inbox", byHand),
                    comparison.ratioToHand(
                            names().get(1), Aim.atLeast(3), "durable inbox, 50 per transaction", byHand));
        }
    }

    private static Performance round(Arena arena, SizedDrain drain) throws Exception {
        int messages = drain.messages();
        Performance performance = drain.round();
        long orders = arena.count("bench_order");
        if (orders != messages) {
            throw new IllegalStateException(messages + " messages had " + orders + " effects");
        }
        return performance;
    }
}
