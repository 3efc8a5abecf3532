package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.PostriderContender.Neighbour;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import java.util.List;
import java.util.Locale;

/** Whether messages that wait in one topic, because it is paused or its destination is down, slow down other topics. */
record DeadTopic(boolean ordered) implements Measurement {

    @Override
    public List<String> names() {
        String suffix = ordered ? "_ordered" : "";
        return List.of(
                "dead_topic_vs_none" + suffix, "failing_topic_vs_none" + suffix, "paused_topic_vs_none" + suffix);
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public List<Figure> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int waiting = bench.scale().idle();
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.rounds(ordered ? "dead topic, ordered" : "dead topic");
            for (Neighbour neighbour : Neighbour.values()) {
                PostriderContender contender = PostriderContender.beside(neighbour, ordered, arena, arena.pool());
                field.add(contender);
                SizedDrain drain = new SizedDrain(bench, contender).warmUp();
                rounds.system(nameOf(neighbour), () -> {
                    contender.clear();
                    if (neighbour != Neighbour.NONE) {
                        contender.fillNeighbour(waiting);
                    }
                    return drain.again();
                });
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain " + (ordered ? "an ordered" : "a") + " topic while messages wait in another one",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of(String.format(
                            Locale.ROOT, "%,d messages wait in the other topic, which has the same tables", waiting)));
            String none = nameOf(Neighbour.NONE);
            Aim aim = Aim.atLeast(0.95);
            return List.of(
                    comparison.ratioToItself(names().get(0), aim, nameOf(Neighbour.SILENT), none),
                    comparison.ratioToItself(names().get(1), aim, nameOf(Neighbour.FAILING), none),
                    comparison.ratioToItself(names().get(2), aim, nameOf(Neighbour.PAUSED), none));
        }
    }

    private static String nameOf(Neighbour neighbour) {
        return switch (neighbour) {
            case NONE -> "none waiting";
            case PAUSED -> "the other is paused";
            case SILENT -> "its destination does not answer";
            case FAILING -> "its destination fails at once";
        };
    }
}
