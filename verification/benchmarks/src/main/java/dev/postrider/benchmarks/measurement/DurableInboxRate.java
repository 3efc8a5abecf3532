package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.DurableInboxContender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** The rate of handling received messages once, in transactions with their effect. */
final class DurableInboxRate implements Measurement {

    /** A smaller backlog, since each message costs a durable commit, unless many share one. */
    private static final int PART = 5;

    @Override
    public List<String> names() {
        return List.of("inbox_durable_vs_handwritten", "inbox_durable_batched_vs_handwritten");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int backlog = bench.scale().backlog() / PART;
        try (Field field = new Field()) {
            Rounds<Double> rounds = bench.rounds("inbox durable");
            for (Contender each : List.of(
                    field.add(DurableInboxContender.oneByOne(arena, arena.pool())),
                    field.add(DurableInboxContender.manyAtOnce(arena, arena.pool())),
                    field.add(HandWritten.effects(arena, arena.pool())))) {
                rate(arena, each, 2 * backlog);
                rounds.system(each.name(), () -> rate(arena, each, backlog));
            }
            rounds.run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(backlog + " messages, four threads with a connection each; nothing is archived");
            Comparison comparison = new Comparison(
                    "Handle a backlog of received messages, one order each",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            String byHand = "loop by hand, a transaction each";
            return List.of(
                    comparison.ratio(names().get(0), Aim.atLeast(0.8), "durable inbox", byHand),
                    comparison.ratio(names().get(1), Aim.atLeast(3), "durable inbox, 50 per transaction", byHand));
        }
    }

    private static double rate(Arena arena, Contender contender, int backlog) throws Exception {
        double rate = Drain.rate(arena, contender, backlog);
        long orders = arena.count("bench_order");
        if (orders != backlog) {
            throw new IllegalStateException(backlog + " messages had " + orders + " effects");
        }
        return rate;
    }
}
