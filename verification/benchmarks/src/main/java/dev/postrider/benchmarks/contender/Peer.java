package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import javax.sql.DataSource;

/** The peers, each with its best settings. */
public enum Peer {
    DB_SCHEDULER("db-scheduler", "16.12.0", 3),
    NAMASTACK("Namastack", "1.6.0", 6),
    MODULITH("Modulith", "2.1.1", 60),
    JOBRUNR("JobRunr", "8.7.0", 30),
    GRUELBOX("gruelbox", "4.2.268", 30);

    private final String displayName;
    private final String version;
    private final int slowness;

    Peer(String displayName, String version, int slowness) {
        this.displayName = displayName;
        this.version = version;
        this.slowness = slowness;
    }

    /** The {@link Contender#name()} of its contenders. */
    public String displayName() {
        return displayName;
    }

    public String version() {
        return version;
    }

    /** Whether its rates are among the best of the peers, so that it takes part at every scale. */
    public boolean isFast() {
        return this == DB_SCHEDULER || this == NAMASTACK;
    }

    /** The part of a backlog that it gets, so that its phase takes no longer than the others'. */
    public int part(int messages) {
        return Math.max(messages / slowness, Math.min(messages, 100));
    }

    /** Whether it polls only every few seconds, so that its latency is not worth measuring. */
    public boolean isSlowToNotice() {
        return this == JOBRUNR;
    }

    public Contender forThroughput(Arena arena, DataSource dataSource) {
        return switch (this) {
            case DB_SCHEDULER -> DbScheduler.polling(arena, dataSource);
            case NAMASTACK -> new Namastack(arena, dataSource);
            case MODULITH -> new Modulith(arena, dataSource);
            case JOBRUNR -> new JobRunr(arena, dataSource);
            case GRUELBOX -> new Gruelbox(arena, dataSource);
        };
    }

    public Contender forLatency(Arena arena, DataSource dataSource) {
        return this == DB_SCHEDULER ? DbScheduler.triggered(arena, dataSource) : forThroughput(arena, dataSource);
    }
}
