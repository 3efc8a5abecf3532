package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.testkit.database.Engine;
import java.util.ArrayList;
import java.util.List;

/** Draining and enqueueing on MariaDB or MySQL, against hand-written JDBC on the same database. */
record InnoDb(String prefix, Engine engine) implements Measurement {

    private static final int PART = 3;
    private static final Aim AIM = Aim.atLeast(0.5);

    @Override
    public List<String> names() {
        return List.of(
                prefix + "_drain_ordered_vs_limit",
                prefix + "_drain_ordered_without_archive_vs_limit",
                prefix + "_drain_unordered_vs_limit",
                prefix + "_enqueue_vs_handwritten",
                prefix + "_enqueue_keyed_vs_handwritten");
    }

    @Override
    public List<Figure> run(Bench outer) throws Exception {
        try (Arena arena = Arena.start(engine)) {
            Bench bench = new Bench(arena, outer.scale(), outer.progress());
            List<Figure> figures = new ArrayList<>(drain(bench));
            figures.addAll(enqueue(bench));
            return figures;
        }
    }

    private List<Figure> drain(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int backlog = bench.scale().backlog() / PART;
        try (Field field = new Field()) {
            Rounds<Double> rounds = bench.rounds(prefix + " drain");
            for (Contender each : List.of(
                    field.add(PostriderContender.ordered(arena, arena.pool())),
                    field.add(PostriderContender.orderedDeleting(arena, arena.pool())),
                    field.add(HandWritten.inLanesArchiving(arena, arena.pool())),
                    field.add(HandWritten.inLanes(arena, arena.pool())),
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(PostriderContender.deleting(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())))) {
                Drain.rate(arena, each, backlog / PART);
                rounds.system(each.name(), () -> Drain.rate(arena, each, backlog));
            }
            rounds.run();
            Comparison comparison = new Comparison(
                    "Drain a backlog on " + engine.displayName(),
                    "messages/s",
                    rounds.samples(rate -> rate),
                    rounds.notes());
            return List.of(
                    comparison.ratio(names().get(0), AIM, "postrider ordered", "hand-written ordered with archive"),
                    comparison.ratio(names().get(1), AIM, "postrider ordered without archive", "hand-written ordered"),
                    comparison.ratio(names().get(2), AIM, "postrider without archive", "hand-written"));
        }
    }

    private List<Figure> enqueue(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Rounds<Load.Result> rounds = bench.rounds(prefix + " enqueue");
            for (Contender each : List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())),
                    field.add(PostriderContender.keyed(arena, arena.pool())),
                    field.add(HandWritten.keyed(arena, arena.pool())))) {
                rounds.system(each.name(), () -> EnqueueRate.rate(bench, each));
            }
            rounds.run();
            Comparison comparison = new Comparison(
                    "Business transactions with one message on " + engine.displayName(),
                    "transactions/s",
                    rounds.samples(Load.Result::perSecond),
                    rounds.notes());
            return List.of(
                    comparison.ratio(names().get(3), AIM, "postrider", "hand-written"),
                    comparison.ratio(names().get(4), AIM, "postrider keyed", "hand-written keyed"));
        }
    }
}
