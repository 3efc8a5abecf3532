package dev.postrider.benchmarks;

import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.measurement.Scale;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Describes the environment of the figures. Without it they mean nothing. */
final class Environment {

    private Environment() {}

    static Map<String, String> describe(Arena arena, Scale scale) {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put(
                "measured", Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
        environment.put(
                "scale",
                scale.name() + ", " + scale.rounds() + " rounds of draining and enqueueing, " + scale.otherRounds()
                        + " of the rest");
        environment.put("commit", System.getProperty("postrider.commit", "unknown"));
        environment.put("Java", System.getProperty("java.vm.name") + " " + Runtime.version());
        environment.put("processors", Runtime.getRuntime().availableProcessors() + " × " + processor());
        environment.put("heap", Runtime.getRuntime().maxMemory() / 1024 / 1024 + " MiB");
        environment.put(
                "system",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"));
        environment.putAll(arena.describe());
        environment.put(
                "peers",
                Arrays.stream(Peer.values())
                        .map(peer -> peer.displayName() + " " + peer.version())
                        .collect(Collectors.joining(", ")));
        return environment;
    }

    private static String processor() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .findFirst()
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** The load average of the computer over the last minute. */
    static String loadAverage() {
        return String.format(
                Locale.ROOT,
                "%.1f",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }
}
