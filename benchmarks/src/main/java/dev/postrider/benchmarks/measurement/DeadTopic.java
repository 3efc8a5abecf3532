package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.ArrayList;
import java.util.List;

/** Whether messages that wait in one topic cost the others anything. */
final class DeadTopic implements Measurement {

    @Override
    public List<String> names() {
        return List.of("dead_topic_vs_none");
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int timed = bench.scale().backlog();
        int waiting = bench.scale().idle();
        try (Field field = new Field()) {
            PostriderContender postrider = PostriderContender.besidePausedTopic(arena, arena.pool());
            field.add(postrider);
            Drain.rate(arena, postrider, timed / 5);
            Rounds<Double> rounds = bench.<Double>rounds("dead topic")
                    .system("none waiting", () -> Drain.rate(arena, postrider, timed))
                    .system("many waiting", () -> {
                        postrider.clear();
                        postrider.fillPaused(waiting);
                        return Drain.again(arena, postrider, timed);
                    })
                    .run();
            List<String> notes = new ArrayList<>(rounds.notes());
            notes.add(waiting + " messages wait in a paused topic of the same tables");
            Comparison comparison = new Comparison(
                    "The rate of a topic while another one is paused",
                    "messages/s",
                    rounds.samples(rate -> rate),
                    notes);
            return List.of(comparison.ratio(names().get(0), Aim.atLeast(0.95), "many waiting", "none waiting"));
        }
    }
}
