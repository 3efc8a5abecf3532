package dev.postrider.benchmarks.measurement;

import dev.postrider.Postrider;
import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.InlineInbox;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Whether the purge of a million marks slows down the handling of received messages. */
final class InboxPurge implements Measurement {

    @Override
    public List<String> names() {
        return List.of("inbox_purging_vs_not");
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
        int old = bench.scale().deep();
        try (Field field = new Field()) {
            Contender inbox = field.add(new InlineInbox(arena, arena.pool()));
            EnqueueRate.warmUp(bench, inbox);
            Rounds<Performance> rounds = bench.<Performance>rounds("inbox purge")
                    .system("nothing to purge", () -> rate(bench, inbox, 0))
                    .system("purging", () -> rate(bench, inbox, old))
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(old + " marks past their time when the load begins, on a node that purges in either case");
            Comparison comparison = Comparison.ofRates(
                    "Received messages handled inline while old marks are purged",
                    "messages/s",
                    rounds.samples(Performance::perSecond),
                    notes);
            return List.of(comparison.ratioToItself(names().get(0), Aim.atLeast(0.9), "purging", "nothing to purge"));
        }
    }

    private static Performance rate(Bench bench, Contender inbox, int old) throws Exception {
        Arena arena = bench.arena();
        inbox.clear();
        arena.execute(List.of("INSERT INTO postrider_inbox_mark (message_id, consumer, tenant, payload_hash, seen_at)"
                + " SELECT gen_random_uuid(), 'billing', '', sha256('old'), clock_timestamp() - interval '40 days'"
                + " FROM generate_series(1, " + old + ")"));
        arena.settle();
        try (Postrider purging = Postrider.on(arena.pool())
                .dispatch(dispatch ->
                        dispatch.housekeepingInterval(Duration.ofMillis(100)).inboxRetention(Duration.ofDays(30)))
                .build()) {
            purging.start();
            return Load.full(arena, inbox, bench.scale().round()).performance();
        }
    }
}
