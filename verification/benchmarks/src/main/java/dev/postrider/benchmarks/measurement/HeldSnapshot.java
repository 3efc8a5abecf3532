package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
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
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int before = bench.scale().backlog();
        int timed = bench.scale().shallow();
        try (Field field = new Field()) {
            List<String> notes = new ArrayList<>();
            notes.add(timed + " messages timed after " + before + " under the held snapshot");
            Rounds<Double> rounds = bench.rounds("held snapshot");
            for (Contender each : List.of(
                    PostriderContender.archiving(arena, arena.pool()),
                    PostriderContender.ordered(arena, arena.pool()))) {
                field.add(each);
                Drain.rate(arena, each, timed);
                add(rounds, arena, each, before, timed);
            }
            for (Peer peer : Peer.values()) {
                if (peer != Peer.DB_SCHEDULER && !bench.scale().isPatient()) {
                    notes.add(peer.displayName() + " takes too long and was left out");
                    continue;
                }
                Contender contender = field.add(peer.forThroughput(arena, arena.pool()));
                add(rounds, arena, contender, peer.part(before), peer.part(timed));
                notes.add(contender.name() + ": " + peer.part(timed) + " after " + peer.part(before));
            }
            rounds.run();
            notes.addAll(rounds.notes());
            Comparison comparison = new Comparison(
                    "The rate after many messages under a held snapshot against before",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            Aim aim = Aim.atLeast(0.9);
            return List.of(
                    comparison.ratio(names().get(0), aim, "postrider, held", "postrider, free"),
                    comparison.ratio(names().get(1), aim, "postrider ordered, held", "postrider ordered, free"));
        }
    }

    private static void add(Rounds<Double> rounds, Arena arena, Contender contender, int before, int timed) {
        rounds.system(contender.name() + ", free", () -> Drain.rate(arena, contender, timed));
        rounds.system(contender.name() + ", held", () -> held(arena, contender, before, timed));
    }

    private static double held(Arena arena, Contender contender, int before, int timed) throws Exception {
        contender.clear();
        try (Connection snapshot = arena.pool().getConnection();
                Statement statement = snapshot.createStatement()) {
            snapshot.setAutoCommit(false);
            statement.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            statement.execute("SELECT count(*) FROM bench_order");
            Drain.again(arena, contender, before);
            double rate = Drain.again(arena, contender, timed);
            snapshot.rollback();
            snapshot.setAutoCommit(true);
            return rate;
        }
    }
}
