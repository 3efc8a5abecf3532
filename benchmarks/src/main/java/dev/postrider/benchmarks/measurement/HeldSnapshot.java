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

/** Whether a transaction that somebody forgot, so that no dead row can be removed, slows the draining down. */
final class HeldSnapshot implements Measurement {

    @Override
    public List<String> names() {
        return List.of("held_snapshot_vs_free");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int before = bench.scale().backlog();
        int timed = bench.scale().shallow();
        int ofPeer = Peer.DB_SCHEDULER.part(timed);
        int beforePeer = Peer.DB_SCHEDULER.part(before);
        try (Field field = new Field()) {
            Contender postrider = field.add(PostriderContender.archiving(arena, arena.pool()));
            Contender peer = field.add(Peer.DB_SCHEDULER.forThroughput(arena, arena.pool()));
            Drain.rate(arena, postrider, timed);
            Rounds<Double> rounds = bench.<Double>rounds("held snapshot")
                    .system("postrider, free", () -> Drain.rate(arena, postrider, timed))
                    .system("postrider, held", () -> held(arena, postrider, before, timed))
                    .system("db-scheduler, free", () -> Drain.rate(arena, peer, ofPeer))
                    .system("db-scheduler, held", () -> held(arena, peer, beforePeer, ofPeer))
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(timed + " messages timed after " + before + " under the held snapshot; db-scheduler " + ofPeer
                    + " after " + beforePeer);
            Comparison comparison = new Comparison(
                    "The rate after many messages under a held snapshot against before, unordered",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            return List.of(comparison.ratio(names().get(0), Aim.atLeast(0.9), "postrider, held", "postrider, free"));
        }
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
