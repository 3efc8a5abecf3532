package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** Whether a deep backlog is drained as fast as a shallow one. */
final class Depth implements Measurement {

    @Override
    public List<String> names() {
        return List.of("depth_1m_vs_10k", "depth_1m_vs_10k_ordered");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int shallow = bench.scale().shallow();
        int deep = bench.scale().deep();
        try (Field field = new Field()) {
            Contender postrider = field.add(PostriderContender.archiving(arena, arena.pool()));
            Contender ordered = field.add(PostriderContender.ordered(arena, arena.pool()));
            Contender peer = field.add(Peer.DB_SCHEDULER.forThroughput(arena, arena.pool()));
            Drain.rate(arena, postrider, shallow);
            Drain.rate(arena, ordered, shallow);
            Rounds<Double> rounds = bench.<Double>rounds("depth")
                    .system("postrider, shallow", () -> Drain.rateOfFirst(arena, postrider, shallow, shallow))
                    .system("postrider, deep", () -> Drain.rateOfFirst(arena, postrider, shallow, deep))
                    .system("postrider ordered, shallow", () -> Drain.rateOfFirst(arena, ordered, shallow, shallow))
                    .system("postrider ordered, deep", () -> Drain.rateOfFirst(arena, ordered, shallow, deep))
                    .system("db-scheduler, shallow", () -> Drain.rateOfFirst(arena, peer, shallow / 2, shallow))
                    .system("db-scheduler, deep", () -> Drain.rateOfFirst(arena, peer, shallow / 2, deep))
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add("shallow is " + shallow + " messages, deep is " + deep + ", of which the first " + shallow
                    + " are timed (half as many of db-scheduler's)");
            Comparison comparison = new Comparison(
                    "The rate at a deep backlog against a shallow one",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            Aim aim = Aim.atLeast(0.9);
            return List.of(
                    comparison.ratio(names().get(0), aim, "postrider, deep", "postrider, shallow"),
                    comparison.ratio(names().get(1), aim, "postrider ordered, deep", "postrider ordered, shallow"));
        }
    }
}
