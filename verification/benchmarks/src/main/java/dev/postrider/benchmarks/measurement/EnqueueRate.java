package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.HandWritten;
import dev.postrider.benchmarks.contender.OrdersOnly;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.ArrayList;
import java.util.List;

/** The rate of business transactions with one message, without delivery. */
final class EnqueueRate implements Measurement {

    @Override
    public List<String> names() {
        return List.of(
                "enqueue_vs_best_peer",
                "enqueue_keyed_vs_best_peer",
                "enqueue_vs_handwritten",
                "enqueue_keyed_vs_handwritten");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return true;
    }

    @Override
    public double minutes() {
        return 6;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            List<Contender> contenders = new ArrayList<>(List.of(
                    field.add(PostriderContender.archiving(arena, arena.pool())),
                    field.add(HandWritten.leasing(arena, arena.pool())),
                    field.add(PostriderContender.keyed(arena, arena.pool())),
                    field.add(HandWritten.keyed(arena, arena.pool())),
                    field.add(new OrdersOnly(arena, arena.pool()))));
            for (Peer peer : bench.peers()) {
                contenders.add(field.add(peer.forThroughput(arena, arena.pool())));
            }
            Rounds<Performance> rounds = bench.mainRounds("enqueue");
            for (Contender each : contenders) {
                rounds.system(
                        each.name(), () -> Load.full(arena, each, bench.scale().warmUp()), () -> rate(bench, each));
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Business transactions that write one order and one message, without a dispatcher",
                    "transaction",
                    bench.scale(),
                    rounds,
                    List.of(Load.THREADS + " threads; JobRunr writes its job in a second transaction of its own"));
            return List.of(
                    comparison.ratioToBestPeer(names().get(0), Aim.atLeast(1.1), "postrider"),
                    comparison.ratioToBestPeer(names().get(1), Aim.atLeast(0.95), "postrider keyed"),
                    comparison.ratioToHand(names().get(2), Aim.atLeast(0.9), "postrider", "hand-written"),
                    comparison.ratioToHand(names().get(3), Aim.atLeast(0.75), "postrider keyed", "hand-written keyed"));
        }
    }

    /** Runs until the just-in-time compiler has finished, which takes seconds on two processors. */
    static void warmUp(Bench bench, Contender contender) throws Exception {
        contender.clear();
        Load.full(bench.arena(), contender, bench.scale().warmUp().multipliedBy(2));
    }

    static Performance rate(Bench bench, Contender contender) throws Exception {
        return load(bench, contender).performance();
    }

    static Load.Result load(Bench bench, Contender contender) throws Exception {
        contender.clear();
        bench.arena().settle();
        Load.Result result = Load.full(bench.arena(), contender, bench.scale().round());
        long written = contender.unfinished();
        if (written != result.transactions()) {
            throw new IllegalStateException(
                    "wrote " + written + " messages in " + result.transactions() + " transactions");
        }
        return result;
    }
}
