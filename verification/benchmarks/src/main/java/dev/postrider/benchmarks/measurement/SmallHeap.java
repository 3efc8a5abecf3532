package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.PostriderContender;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Result;
import dev.postrider.benchmarks.report.Samples;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Whether a process with a heap of 64 MiB drains a deep backlog of larger messages. */
final class SmallHeap implements Measurement {

    private static final String HEAP = "-Xmx64m";

    @Override
    public List<String> names() {
        return List.of("heap_1m", "heap_1m_ordered");
    }

    @Override
    public boolean isPartOf(Scale scale) {
        return scale.isBroad();
    }

    @Override
    public double minutes() {
        return 5;
    }

    @Override
    public List<Result> run(Bench bench) throws Exception {
        Arena arena = bench.arena();
        int messages = bench.scale().heap();
        try (Field field = new Field()) {
            Contender postrider = field.add(PostriderContender.archiving(arena, arena.pool()));
            Map<String, Samples> systems = new LinkedHashMap<>();
            List<String> notes = new ArrayList<>();
            for (boolean ordered : List.of(false, true)) {
                postrider.clear();
                SmallHeapProcess.fill(arena.pool(), messages, ordered);
                arena.settle();
                List<String> output = drain(arena.address(), messages, ordered);
                String last = output.isEmpty() ? "nothing" : output.get(output.size() - 1);
                bench.progress().println("heap: " + last);
                boolean done = last.startsWith(SmallHeapProcess.DONE);
                systems.put(ordered ? "postrider ordered" : "postrider", Samples.of(done ? 1 : 0));
                notes.add(messages + (ordered ? " ordered" : "") + " messages; the process said: " + last);
            }
            postrider.clear();
            Comparison comparison = Comparison.ofRates(
                    "Drain messages of 2 KiB with " + HEAP + ", default settings; 1 if all were delivered",
                    "of 1",
                    systems,
                    notes);
            return List.of(
                    comparison.itself(names().get(0), Aim.atLeast(1), "postrider", "all messages"),
                    comparison.itself(names().get(1), Aim.atLeast(1), "postrider ordered", "all messages"));
        }
    }

    private static List<String> drain(Arena.Address address, int messages, boolean ordered)
            throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        HEAP,
                        "-cp",
                        System.getProperty("java.class.path"),
                        SmallHeapProcess.class.getName(),
                        address.url(),
                        Objects.requireNonNullElse(address.user(), ""),
                        Objects.requireNonNullElse(address.password(), ""),
                        Integer.toString(messages),
                        Boolean.toString(ordered))
                .redirectErrorStream(true)
                .start();
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            List<String> lines = reader.lines().collect(Collectors.toList());
            process.waitFor();
            return lines;
        } finally {
            process.destroyForcibly();
        }
    }
}
