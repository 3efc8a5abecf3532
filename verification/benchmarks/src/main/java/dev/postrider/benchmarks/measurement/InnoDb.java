package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.testkit.database.Engine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Draining and enqueueing on MariaDB or MySQL, against hand-written JDBC on the same database. */
final class InnoDb implements Measurement {

    private static final Aim ENQUEUE = Aim.atLeast(0.9);

    private final String prefix;
    private final Engine engine;
    private final List<Aim> aims;

    /** @param before the figures of November 2026, by rate: no later one should be lower */
    private InnoDb(String prefix, Engine engine, double... before) {
        this.prefix = prefix;
        this.engine = engine;
        this.aims = Arrays.stream(before).mapToObj(Aim::atLeast).toList();
    }

    static InnoDb mariaDb() {
        return new InnoDb("mariadb", Engine.MARIADB_11_4, 0.62, 0.66, 0.76, 0.77);
    }

    static InnoDb mySql() {
        return new InnoDb("mysql", Engine.MYSQL_8_0, 0.69, 0.53, 0.67, 0.90);
    }

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
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 10;
    }

    @Override
    public List<Result> run(Bench outer) throws Exception {
        try (Arena arena = Arena.start(engine)) {
            Bench bench = outer.at(arena);
            List<Result> figures = new ArrayList<>(drain(bench.ofSlot(0.7)));
            figures.addAll(enqueue(bench));
            return figures;
        }
    }

    private List<Result> drain(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.rounds(prefix + " drain");
            for (Contender each : List.of(
                    field.add(PostriderContender.ordered(arena, arena.pool())),
                    field.add(PostriderContender.orderedDeleting(arena, arena.pool())),
                    field.add(HandWritten.inLanesArchiving(arena, arena.pool())),
                    field.add(HandWritten.inLanes(arena, arena.pool())),
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(PostriderContender.deleting(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())))) {
                SizedDrain drain = new SizedDrain(bench, each);
                rounds.system(each.name(), drain::warmUp, drain::round);
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain a backlog on " + engine.displayName(), "message", bench.scale(), rounds, List.of());
            return List.of(
                    comparison.ratioToHand(
                            names().get(0), aims.get(0), "postrider ordered", "hand-written ordered with archive"),
                    comparison.ratioToHand(
                            names().get(1), aims.get(1), "postrider ordered without archive", "hand-written ordered"),
                    comparison.ratioToHand(names().get(2), aims.get(2), "postrider without archive", "hand-written"));
        }
    }

    private List<Result> enqueue(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.rounds(prefix + " enqueue");
            for (Contender each : List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())),
                    field.add(PostriderContender.keyed(arena, arena.pool())),
                    field.add(HandWritten.keyed(arena, arena.pool())))) {
                rounds.system(each.name(), () -> EnqueueRate.warmUp(bench, each), () -> EnqueueRate.rate(bench, each));
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Business transactions with one message on " + engine.displayName(),
                    "transaction",
                    bench.scale(),
                    rounds,
                    List.of());
            return List.of(
                    comparison.ratioToHand(names().get(3), ENQUEUE, "postrider", "hand-written"),
                    comparison.ratioToHand(names().get(4), aims.get(3), "postrider keyed", "hand-written keyed"));
        }
    }
}
