package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.OrdersOnly;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** The rate of business transactions with one message, without delivery. */
final class EnqueueRate implements Measurement {

    @Override
    public List<String> names() {
        return List.of("enqueue_vs_handwritten", "enqueue_keyed_vs_handwritten", "enqueue_vs_best_peer");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            List<Contender> contenders = new ArrayList<>(List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())),
                    field.add(PostriderContender.keyed(arena, arena.pool())),
                    field.add(HandWritten.keyed(arena, arena.pool())),
                    field.add(new OrdersOnly(arena, arena.pool()))));
            for (Peer peer : Peer.values()) {
                contenders.add(field.add(peer.forThroughput(arena, arena.pool())));
            }
            Rounds<Load.Result> rounds = bench.rounds("enqueue");
            for (Contender each : contenders) {
                Load.full(each, bench.scale().load().dividedBy(3));
                rounds.system(each.name(), () -> rate(bench, each));
            }
            rounds.run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(Load.THREADS + " threads; JobRunr writes its job in a second transaction of its own");
            Comparison comparison = new Comparison(
                    "Business transactions that write one order and one message, without a dispatcher",
                    "transactions/s",
                    rounds.samples(Load.Result::perSecond),
                    notes);
            return List.of(
                    comparison.ratio(names().get(0), Aim.atLeast(0.9), "postrider", "hand-written"),
                    comparison.ratio(names().get(1), Aim.atLeast(0.75), "postrider keyed", "hand-written keyed"),
                    comparison.ratioToBestPeer(names().get(2), Aim.atLeast(1.1), "postrider"));
        }
    }

    /** Runs until the just-in-time compiler has finished, which takes seconds on two processors. */
    static void warmUp(Bench bench, Contender contender) throws Exception {
        contender.clear();
        Load.full(contender, bench.scale().load().multipliedBy(4));
    }

    static Load.Result rate(Bench bench, Contender contender) throws Exception {
        contender.clear();
        bench.arena().settle();
        Load.Result result = Load.full(contender, bench.scale().load());
        long written = contender.unfinished();
        if (written != result.transactions()) {
            throw new IllegalStateException(
                    "wrote " + written + " messages in " + result.transactions() + " transactions");
        }
        return result;
    }
}
