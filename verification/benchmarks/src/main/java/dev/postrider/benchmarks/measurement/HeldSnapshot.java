package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Whether a forgotten open transaction slows down draining, since dead rows cannot be removed while it is open. */
final class HeldSnapshot implements Measurement {

    @Override
    public List<String> names() {
        return List.of("held_snapshot_vs_free", "held_snapshot_vs_free_ordered");
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
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            List<String> notes = new ArrayList<>();
            notes.add("Under the held snapshot a backlog is drained before the timed one of the same size");
            Rounds<Performance> rounds = bench.rounds("held snapshot");
            for (Contender each : List.of(
                    PostriderContender.archiving(arena, arena.pool()),
                    PostriderContender.ordered(arena, arena.pool()))) {
                field.add(each);
                add(bench, rounds, each, bench.scale().firstBacklog());
            }
            Contender peer = field.add(Peer.DB_SCHEDULER.forThroughput(arena, arena.pool()));
            add(bench, rounds, peer, Peer.DB_SCHEDULER.part(bench.scale().firstBacklog()));
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain under a held snapshot, when it hides the dead rows of a backlog from vacuum",
                    "message",
                    bench.scale(),
                    rounds,
                    notes);
            Aim aim = Aim.atLeast(0.9);
            return List.of(
                    comparison.ratioToItself(names().get(0), aim, "postrider, held", "postrider, free"),
                    comparison.ratioToItself(
                            names().get(1), aim, "postrider ordered, held", "postrider ordered, free"));
        }
    }

    private static void add(Bench bench, Rounds<Performance> rounds, Contender contender, int first) {
        new EqualDrains(bench, rounds, first)
                .without(contender.name() + ", free", contender)
                .with(contender.name() + ", held", contender, messages -> held(bench.arena(), contender, messages));
    }

    private static Performance held(Arena arena, Contender contender, int messages) throws Exception {
        try (Connection snapshot = arena.pool().getConnection();
                Statement statement = snapshot.createStatement()) {
            snapshot.setAutoCommit(false);
            statement.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            statement.execute("SELECT count(*) FROM bench_order");
            Drain.again(arena, contender, messages);
            Performance performance = Drain.again(arena, contender, messages);
            snapshot.rollback();
            snapshot.setAutoCommit(true);
            return performance;
        }
    }
}
