package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Draining a backlog, ordered and unordered, with an empty delivery. All systems run in the same rounds, because the peers, which have
 * either no order or always order, take most of the time.
 */
final class DrainRate implements Measurement {

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
    public boolean isPartOf(Scale scale) {
        return true;
    }

    @Override
    public double minutes() {
        return 14;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        List<String> notes = new ArrayList<>();
        notes.add("The peers, and what has no archive, delete what was delivered");
        notes.add(
                "The unordered loops by hand claim from the last claimed message on, and once a second from the start of the index");
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.mainRounds("drain");
            List<Sized> all = new ArrayList<>();
            for (Contender each : ours(bench, field)) {
                all.add(new Sized(
                        each.name(), new SizedDrain(bench, each), bench.scale().firstBacklog()));
            }
            for (Peer peer : bench.peers()) {
                if (peer.isSlowToNotice() && !bench.scale().isPatient()) {
                    notes.add(peer.displayName() + " looks every five seconds and was left out");
                    continue;
                }
                Contender contender = field.add(
                        peer.forThroughput(bench.arena(), bench.arena().pool()));
                int first = peer.part(bench.scale().firstBacklog());
                all.add(new Sized(contender.name(), new SizedDrain(bench, contender), first));
            }
            all.forEach(
                    each -> rounds.system(each.name(), () -> each.drain().warmUp(each.first()), each.drain()::round));
            rounds.run();
            all.forEach(each -> notes.add(String.format(
                    Locale.ROOT, "Backlog of %s: %,d", each.name(), each.drain().messages())));
            return figures(
                    Comparison.ofWork("Drain a backlog, empty delivery", "message", bench.scale(), rounds, notes));
        }
    }

    private record Sized(String name, SizedDrain drain, int first) {}

    private static List<Contender> ours(Bench bench, Field field) throws Exception {
        Arena arena = bench.arena();
        List<Contender> ours = new ArrayList<>(List.of(
                field.add(PostriderContender.ordered(arena, arena.pool())),
                field.add(PostriderContender.orderedDeleting(arena, arena.pool())),
                field.add(HandWritten.inLanesArchiving(arena, arena.pool())),
                field.add(HandWritten.inLanes(arena, arena.pool())),
                field.add(PostriderContender.archiving(arena, arena.pool())),
                field.add(PostriderContender.deleting(arena, arena.pool())),
                field.add(HandWritten.leasing(arena, arena.pool()))));
        if (bench.scale().isBroad()) {
            ours.add(field.add(HandWritten.locking(arena, arena.pool())));
        }
        return ours;
    }

    private List<Result> figures(Comparison all) {
        String archived = "postrider ordered";
        String deleted = "postrider ordered without archive";
        return List.of(
                all.ratioToBestPeer(names().get(0), Aim.atLeast(8), archived),
                all.ratioToBestPeer(names().get(1), Aim.atLeast(12), deleted),
                all.ratioToHand(names().get(2), Aim.atLeast(0.8), archived, "hand-written ordered with archive"),
                all.ratioToHand(names().get(3), Aim.atLeast(0.65), deleted, "hand-written ordered"),
                all.ratioToBestPeer(names().get(4), Aim.atLeast(7), "postrider"),
                all.ratioToBestPeer(names().get(5), Aim.atLeast(9), "postrider without archive"),
                all.ratioToHand(names().get(6), Aim.atLeast(0.6), "postrider without archive", "hand-written"));
    }
}
