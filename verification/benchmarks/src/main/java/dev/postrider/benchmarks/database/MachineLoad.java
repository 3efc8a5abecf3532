package dev.postrider.benchmarks.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Who used the processors of the computer since this was made: this process and its servers, or others.
 *
 * @param all ticks of all processors, idle ones too
 * @param busy ticks of work
 * @param stolen ticks that the host of a virtual machine did not give
 * @param own ticks of this process and its children
 */
public record MachineLoad(long all, long busy, long stolen, long own) {

    private static final int IDLE = 3;
    private static final int WAITING = 4;
    private static final int STOLEN = 7;
    private static final int KINDS = 8;

    public static MachineLoad now() {
        try {
            String first =
                    Files.readString(Path.of("/proc/stat")).lines().findFirst().orElse("");
            return parse(first, LinuxProcess.familyTicks(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return new MachineLoad(0, 0, 0, 0);
        }
    }

    /** Reads the first line of {@code /proc/stat}. */
    static MachineLoad parse(String line, long own) {
        String[] fields = line.strip().split(" +");
        long all = 0;
        for (int kind = 0; kind < KINDS; kind++) {
            all += Long.parseLong(fields[kind + 1]);
        }
        long stolen = Long.parseLong(fields[STOLEN + 1]);
        long free = Long.parseLong(fields[IDLE + 1]) + Long.parseLong(fields[WAITING + 1]);
        return new MachineLoad(all, all - free - stolen, stolen, own);
    }

    /** The use of the processors since then, in words. */
    public String since(MachineLoad before) {
        double total = all - before.all;
        if (total <= 0) {
            return "unknown";
        }
        double mine = own - before.own;
        return String.format(
                Locale.ROOT,
                "%.0f %% by this run, %.0f %% by other processes, %.0f %% taken by the host of the machine",
                100 * mine / total,
                Math.max(100 * (busy - before.busy - mine) / total, 0),
                100 * (stolen - before.stolen) / total);
    }
}
