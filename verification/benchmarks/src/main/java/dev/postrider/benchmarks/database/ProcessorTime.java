package dev.postrider.benchmarks.database;

/** Processor time in microseconds: of the client, which is this process, and of the database server with all its processes. */
public record ProcessorTime(double clientMicros, double serverMicros) {

    public double micros() {
        return clientMicros + serverMicros;
    }

    ProcessorTime minus(ProcessorTime earlier) {
        return new ProcessorTime(clientMicros - earlier.clientMicros, serverMicros - earlier.serverMicros);
    }

    /**
     * The share of each item of work. The operating system counts in ticks: less than one tick of each side counts as one, because
     * nothing smaller can be told from zero.
     */
    ProcessorTime per(int items) {
        double least = LinuxProcess.TICK_MICROS;
        return new ProcessorTime(Math.max(clientMicros, least) / items, Math.max(serverMicros, least) / items);
    }
}
