package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.List;
import java.util.Locale;

/** Whether a deep backlog is drained as fast as a shallow one. */
final class Depth implements Measurement {

    private static final int DEEPEST = 5;

    @Override
    public List<String> names() {
        return List.of(
                "depth_vs_shallow", "depth_vs_shallow_ordered", "depth_5x_vs_shallow", "depth_5x_vs_shallow_ordered");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 20;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int shallow = bench.scale().shallow();
        int deep = bench.scale().deep();
        int deepest = DEEPEST * deep;
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.rounds("depth");
            for (Contender each : List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(PostriderContender.ordered(arena, arena.pool())))) {
                // The deepest first, so that the others are copied from it.
                rounds.system(
                        at(each, deepest),
                        () -> Drain.of(arena, each, shallow),
                        () -> Drain.first(arena, each, shallow, deepest));
                rounds.system(at(each, deep), () -> Drain.first(arena, each, shallow, deep));
                rounds.system(at(each, shallow), () -> Drain.first(arena, each, shallow, shallow));
            }
            Contender peer = field.add(Peer.DB_SCHEDULER.forThroughput(arena, arena.pool()));
            int part = Peer.DB_SCHEDULER.part(shallow);
            rounds.system(at(peer, shallow), () -> Drain.first(arena, peer, part, shallow));
            rounds.system(at(peer, deep), () -> Drain.first(arena, peer, part, deep));
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain the first messages of a deep backlog",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of(String.format(
                            Locale.ROOT, "The first %,d are timed, %,d of db-scheduler's", shallow, part)));
            Aim aim = Aim.atLeast(0.9);
            return List.of(
                    comparison.ratioToItself(names().get(0), aim, at("postrider", deep), at("postrider", shallow)),
                    comparison.ratioToItself(
                            names().get(1), aim, at("postrider ordered", deep), at("postrider ordered", shallow)),
                    comparison.ratioToItself(names().get(2), aim, at("postrider", deepest), at("postrider", shallow)),
                    comparison.ratioToItself(
                            names().get(3), aim, at("postrider ordered", deepest), at("postrider ordered", shallow)));
        }
    }

    private static String at(Contender contender, int depth) {
        return at(contender.name(), depth);
    }

    private static String at(String name, int depth) {
        return String.format(Locale.ROOT, "%s, %,d deep", name, depth);
    }
}
