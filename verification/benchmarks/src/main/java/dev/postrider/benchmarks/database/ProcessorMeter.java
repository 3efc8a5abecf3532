package dev.postrider.benchmarks.database;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the processor time that this process and a database server on this computer have used.
 *
 * <p>The client is this whole process without the threads of the just-in-time compiler: garbage collection, pools and threads of
 * libraries are part of a system, compilation ends after minutes. The server is its main process with all descendants, and the ended
 * ones that it has waited for: background writers, vacuum and closed sessions too.
 */
final class ProcessorMeter {

    private static final int ATTEMPTS = 5;

    private final long server;
    private final List<Path> compilers;

    private ProcessorMeter(long server) {
        this.server = server;
        this.compilers = Stream.concat(
                        LinuxProcess.ownThreads("C1 Compiler").stream(),
                        LinuxProcess.ownThreads("C2 Compiler").stream())
                .toList();
    }

    /** @return null where there is no {@code /proc} with this process */
    static @Nullable ProcessorMeter of(long server) {
        return LinuxProcess.isReadable() && LinuxProcess.of(server) != null ? new ProcessorMeter(server) : null;
    }

    ProcessorTime read() {
        return new ProcessorTime(clientTicks() * LinuxProcess.TICK_MICROS, serverTicks() * LinuxProcess.TICK_MICROS);
    }

    private long clientTicks() {
        LinuxProcess self = LinuxProcess.of(ProcessHandle.current().pid());
        return (self == null ? 0 : self.own()) - LinuxProcess.ticks(compilers);
    }

    /** Repeated when a child has ended meanwhile: its time might be counted twice or not at all. */
    private long serverTicks() {
        long ticks = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            LinuxProcess before = LinuxProcess.of(server);
            ticks = LinuxProcess.familyTicks(server);
            LinuxProcess after = LinuxProcess.of(server);
            if (before == null || after == null || before.reaped() == after.reaped()) {
                break;
            }
        }
        return ticks;
    }
}
