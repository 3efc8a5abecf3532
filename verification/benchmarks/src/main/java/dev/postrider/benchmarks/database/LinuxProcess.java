package dev.postrider.benchmarks.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The processor time of a process or thread, as {@code /proc} of Linux reports it.
 *
 * @param parent the id of its parent
 * @param own ticks of all its threads, the ended ones too
 * @param reaped ticks of its ended children
 */
record LinuxProcess(long parent, long own, long reaped) {

    /** Linux shows programs a hundred ticks per second, whatever its own clock does. */
    static final double TICK_MICROS = 10_000;

    private static final Path PROC = Path.of("/proc");

    static boolean isReadable() {
        return Files.isReadable(PROC.resolve("self/stat"));
    }

    /** The process with this id; null if there is none. */
    static @Nullable LinuxProcess of(long pid) {
        return at(PROC.resolve(Long.toString(pid)));
    }

    private static @Nullable LinuxProcess at(Path directory) {
        try {
            return parse(Files.readString(directory.resolve("stat")));
        } catch (IOException e) {
            return null; // it has ended
        }
    }

    /** Reads the line {@code stat}. The name, in parentheses, may contain spaces and parentheses; all after it is numbers. */
    static LinuxProcess parse(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return new LinuxProcess(
                Long.parseLong(fields[1]),
                Long.parseLong(fields[11]) + Long.parseLong(fields[12]),
                Long.parseLong(fields[13]) + Long.parseLong(fields[14]));
    }

    /** The command of the process with this id; empty if there is none. */
    static String nameOf(long pid) {
        return name(PROC.resolve(Long.toString(pid)));
    }

    private static String name(Path directory) {
        try {
            return Files.readString(directory.resolve("comm")).strip();
        } catch (IOException e) {
            return "";
        }
    }

    /** The directories of the threads of this process whose names begin so. */
    static List<Path> ownThreads(String prefix) {
        try (Stream<Path> threads = Files.list(PROC.resolve("self/task"))) {
            return threads.filter(thread -> name(thread).startsWith(prefix)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Ticks of these threads. */
    static long ticks(List<Path> threads) {
        long sum = 0;
        for (Path thread : threads) {
            LinuxProcess found = at(thread);
            sum += found == null ? 0 : found.own();
        }
        return sum;
    }

    /** Ticks of a process, its descendants, and all of their ended children. */
    static long familyTicks(long pid) {
        List<Long> family = new ArrayList<>(List.of(pid));
        ProcessHandle.of(pid).ifPresent(main -> main.descendants().forEach(each -> family.add(each.pid())));
        long sum = 0;
        for (long each : family) {
            LinuxProcess found = of(each);
            sum += found == null ? 0 : found.own() + found.reaped();
        }
        return sum;
    }
}
