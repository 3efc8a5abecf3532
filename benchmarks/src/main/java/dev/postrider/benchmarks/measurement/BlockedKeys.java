package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** Whether many messages that wait behind the refused first ones of two keys cost the other keys anything. */
final class BlockedKeys implements Measurement {

    private static final int KEYS = 2;

    @Override
    public List<String> names() {
        return List.of("blocked_keys_vs_none");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int blocked = bench.scale().blocked();
        int free = blocked / 2;
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.ordered(arena, arena.pool());
            field.add(postrider);
            Drain.rate(arena, postrider, free);
            Rounds<Double> rounds = bench.<Double>rounds("blocked keys")
                    .system("none blocked", () -> Drain.rate(arena, postrider, free))
                    .system("many blocked", () -> {
                        postrider.clear();
                        postrider.block(blocked, KEYS);
                        return Drain.again(arena, postrider, free);
                    })
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(blocked + " messages wait behind the first ones of " + KEYS + " keys, " + free
                    + " others are timed");
            Comparison comparison = new Comparison(
                    "The rate of an ordered topic while keys of it are blocked",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            return List.of(comparison.ratio(names().get(0), Aim.atLeast(0.9), "many blocked", "none blocked"));
        }
    }
}
