package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.FencedByHand;
import dev.postrider.benchmarks.contender.FencedCommands;
import dev.postrider.benchmarks.contender.Order;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import java.util.List;

/** The cost of running a command once, and of replaying it. */
final class CommandRate implements Measurement {

    @Override
    public List<String> names() {
        return List.of("command_fenced_vs_handwritten", "command_replay_vs_first");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 1.5;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        try (Field field = new Field()) {
            FencedCommands commands = new FencedCommands(arena, arena.pool());
            field.add(commands);
            FencedByHand byHand = new FencedByHand(arena, arena.pool());
            field.add(byHand);
            Rounds<Performance> rounds = bench.<Performance>rounds("command")
                    .system(
                            "command",
                            () -> EnqueueRate.warmUp(bench, commands),
                            () -> EnqueueRate.rate(bench, commands))
                    .system(
                            "command by hand",
                            () -> EnqueueRate.warmUp(bench, byHand),
                            () -> EnqueueRate.rate(bench, byHand))
                    .system("replay", () -> replays(bench, commands))
                    .run();
            Comparison comparison = Comparison.ofWork(
                    "Commands that write one order and keep 250 bytes of result",
                    "command",
                    bench.scale(),
                    rounds,
                    List.of(Load.THREADS
                            + " threads; replays are answered by an instance that has run none of the commands, from the"
                            + " database"));
            return List.of(
                    comparison.ratioToHand(names().get(0), Aim.atLeast(0.7), "command", "command by hand"),
                    comparison.ratioToItself(names().get(1), Aim.atLeast(5), "replay", "command"));
        }
    }

    /** Replays each command once, so that no result comes from memory. */
    private static Performance replays(Bench bench, FencedCommands commands) throws Exception {
        int done = EnqueueRate.load(bench, commands).transactions();
        try (FencedCommands.Replays replays = commands.replays()) {
            return Load.each(bench.arena(), done, number -> replays.replay(new Order(number)))
                    .performance();
        }
    }
}
