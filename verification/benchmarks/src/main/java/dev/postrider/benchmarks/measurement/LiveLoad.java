package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How much delivery slows down business transactions on the same computer, and whether it keeps up with them. */
final class LiveLoad implements Measurement {

    private static final int CAPACITY_PER_SECOND = 50_000;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @Override
    public List<String> names() {
        return List.of("live_with_dispatch_vs_without", "live_backlog_share");
    }

    /** @param left the share of messages that were not delivered when the load ended */
    private record Round(double perSecond, double left) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.0f transactions/s, %.1f %% left behind", perSecond, left * 100);
        }
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 2;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            Contender postrider = field.add(PostriderContender.archiving(arena, arena.pool()));
            Contender peer = field.add(Peer.DB_SCHEDULER.forThroughput(arena, arena.pool()));
            Rounds<Round> rounds = bench.<Round>rounds("live")
                    .system("postrider, not delivering", () -> without(bench, postrider))
                    .system("postrider", () -> with(bench, postrider))
                    .system("db-scheduler, not delivering", () -> without(bench, peer))
                    .system("db-scheduler", () -> with(bench, peer))
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            Comparison rate = Comparison.ofRates(
                    "Business transactions at full load, delivering beside them or not",
                    "transactions/s",
                    rounds.samples(Round::perSecond),
                    notes);
            Comparison left = Comparison.ofLess(
                    "The part of the messages that was not delivered when the full load ended",
                    "of 1",
                    rounds.samples(Round::left),
                    notes);
            return List.of(
                    rate.ratioToItself(names().get(0), Aim.atLeast(0.75), "postrider", "postrider, not delivering"),
                    left.itself(names().get(1), Aim.atMost(0.05), "postrider", "the messages written"));
        }
    }

    private static Round without(Bench bench, Contender contender) throws Exception {
        return new Round(EnqueueRate.rate(bench, contender).perSecond(), 1);
    }

    private static Round with(Bench bench, Contender contender) throws Exception {
        Duration load = bench.scale().round();
        contender.clear();
        bench.arena().settle();
        Receiver receiver = new Receiver((int) (CAPACITY_PER_SECOND * (load.toSeconds() + 2)));
        contender.start(receiver);
        try {
            Load.Result result = Load.full(bench.arena(), contender, load);
            double left = 1 - (double) receiver.received() / result.transactions();
            receiver.await(result.transactions(), PATIENCE);
            Drain.awaitDone(contender);
            receiver.verify(result.transactions());
            return new Round(result.perSecond(), left);
        } finally {
            contender.stop();
        }
    }
}
