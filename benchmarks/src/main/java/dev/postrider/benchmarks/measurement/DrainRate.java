package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** How fast a backlog of an unordered topic is delivered, when delivering costs nothing. */
final class DrainRate implements Measurement {

    private static final int WARM_UP_PART = 5;

    @Override
    public List<String> names() {
        return List.of(
                "drain_unordered_vs_best_peer",
                "drain_unordered_without_archive_vs_best_peer",
                "drain_unordered_vs_limit");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int backlog = bench.scale().backlog();
        List<String> notes = new ArrayList<>();
        try (Field field = new Field()) {
            Rounds<Double> rounds = bench.rounds("drain");
            List<Contender> ours = List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(PostriderContender.deleting(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())),
                    field.add(HandWritten.locking(arena, arena.pool())));
            for (Contender each : ours) {
                Drain.rate(arena, each, backlog / WARM_UP_PART);
                rounds.system(each.name(), () -> Drain.rate(arena, each, backlog));
            }
            notes.add(backlog + " messages; the limit and Postrider without archive delete what was delivered");
            for (Peer peer : Peer.values()) {
                Contender contender = field.add(peer.forThroughput(arena, arena.pool()));
                int part = peer.part(backlog);
                Drain.rate(arena, contender, Math.max(part / WARM_UP_PART, 1));
                rounds.system(contender.name(), () -> Drain.rate(arena, contender, part));
                notes.add(contender.name() + " got " + part + " messages, so that its turn takes no longer");
            }
            rounds.run();
            notes.addAll(rounds.notes());
            Comparison comparison = new Comparison(
                    "Drain a backlog, unordered, empty delivery", "messages/s", rounds.samples(rate -> rate), notes);
            return List.of(
                    comparison.ratioToBestPeer(names().get(0), Aim.atLeast(4), "postrider"),
                    comparison.ratioToBestPeer(names().get(1), Aim.atLeast(6), "postrider without archive"),
                    comparison.ratio(names().get(2), Aim.atLeast(0.6), "postrider without archive", "hand-written"));
        }
    }
}
