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

/**
 * The rate of draining a backlog, ordered and unordered, with an empty delivery. All systems run in the same rounds, because the
 * peers, which have either no order or always order, take most of the time.
 */
final class DrainRate implements Measurement {

    private static final int WARM_UP_PART = 5;

    /** A system that drains a backlog in a second is not warm after a part of it. */
    private static final int WARM_UP = 2;

    @Override
    public List<String> names() {
        return List.of(
                "drain_ordered_vs_best_peer",
                "drain_ordered_without_archive_vs_best_peer",
                "drain_ordered_vs_limit",
                "drain_ordered_without_archive_vs_limit",
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
            for (Contender each : ours(arena, field)) {
                Drain.rate(arena, each, WARM_UP * backlog);
                rounds.system(each.name(), () -> Drain.rate(arena, each, backlog));
            }
            notes.add(backlog + " messages; peers, and what has no archive, delete what was delivered");
            for (Peer peer : Peer.values()) {
                if (peer.isSlowToNotice() && !bench.scale().isPatient()) {
                    notes.add(peer.displayName() + " looks every five seconds and was left out");
                    continue;
                }
                Contender contender = field.add(peer.forThroughput(arena, arena.pool()));
                int part = peer.part(backlog);
                Drain.rate(arena, contender, Math.max(part / WARM_UP_PART, 1));
                rounds.system(contender.name(), () -> Drain.rate(arena, contender, part));
                notes.add(contender.name() + " got " + part + " messages, so that its turn takes no longer");
            }
            rounds.run();
            notes.addAll(rounds.notes());
            return figures(new Comparison(
                    "Drain a backlog, empty delivery", "messages/s", rounds.samples(rate -> rate), notes));
        }
    }

    private static List<Contender> ours(Arena arena, Field field) throws Exception {
        return List.of(
                field.add(PostriderContender.ordered(arena, arena.pool())),
                field.add(PostriderContender.orderedDeleting(arena, arena.pool())),
                field.add(HandWritten.inLanesArchiving(arena, arena.pool())),
                field.add(HandWritten.inLanes(arena, arena.pool())),
                field.add(PostriderContender.archiving(arena, arena.pool())),
                field.add(PostriderContender.deleting(arena, arena.pool())),
                field.add(HandWritten.leasing(arena, arena.pool())),
                field.add(HandWritten.locking(arena, arena.pool())));
    }

    private List<Figure> figures(Comparison all) {
        Aim limit = Aim.atLeast(0.6);
        String archived = "postrider ordered";
        String deleted = "postrider ordered without archive";
        return List.of(
                all.ratioToBestPeer(names().get(0), Aim.atLeast(8), archived),
                all.ratioToBestPeer(names().get(1), Aim.atLeast(12), deleted),
                all.ratio(names().get(2), limit, archived, "hand-written ordered with archive"),
                all.ratio(names().get(3), limit, deleted, "hand-written ordered"),
                all.ratioToBestPeer(names().get(4), Aim.atLeast(4), "postrider"),
                all.ratioToBestPeer(names().get(5), Aim.atLeast(6), "postrider without archive"),
                all.ratio(names().get(6), limit, "postrider without archive", "hand-written"));
    }
}
