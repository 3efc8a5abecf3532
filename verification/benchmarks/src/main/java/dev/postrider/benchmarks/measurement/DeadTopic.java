package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.contender.PostriderContender.Neighbour;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
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
    public double minutes() {
        return 6;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int waiting = bench.scale().idle();
        try (Field field = new Field()) {
            Rounds<Performance> rounds = bench.burdenRounds(ordered ? "dead topic, ordered" : "dead topic");
            EqualDrains drains = new EqualDrains(bench, rounds, bench.scale().firstBacklog());
            for (Neighbour neighbour :
                    List.of(Neighbour.EMPTY, Neighbour.PAUSED, Neighbour.SILENT, Neighbour.FAILING)) {
                PostriderContender contender = PostriderContender.beside(neighbour, ordered, arena, arena.pool());
                field.add(contender);
                drains.with(nameOf(neighbour), contender, () -> {
                    if (neighbour != Neighbour.EMPTY) {
                        contender.fillNeighbour(waiting);
                    }
                });
            }
            rounds.run();
            Comparison comparison = Comparison.ofWork(
                    "Drain " + (ordered ? "an ordered" : "a") + " topic while messages wait in another one",
                    "message",
                    bench.scale(),
                    rounds,
                    List.of(String.format(
                            Locale.ROOT,
                            "%,d messages wait in the other topic, which has the same tables and is empty otherwise; %,d are"
                                    + " timed",
                            waiting,
                            drains.messages())));
            String none = nameOf(Neighbour.EMPTY);
            Aim aim = Aim.atLeast(0.95);
            return List.of(
                    comparison.ratioToItself(names().get(0), aim, nameOf(Neighbour.SILENT), none),
                    comparison.ratioToItself(names().get(1), aim, nameOf(Neighbour.FAILING), none),
                    comparison.ratioToItself(names().get(2), aim, nameOf(Neighbour.PAUSED), none));
        }
    }

    private static String nameOf(Neighbour neighbour) {
        return switch (neighbour) {
            case NONE, EMPTY -> "none waiting";
            case PAUSED -> "the other is paused";
            case SILENT -> "its destination does not answer";
            case FAILING -> "its destination fails at once";
        };
    }
}
