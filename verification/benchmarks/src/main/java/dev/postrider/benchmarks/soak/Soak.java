package dev.postrider.benchmarks.soak;

import dev.postrider.benchmarks.database.Arena;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * The {@code soak} command: a fixed load on Postrider and on a queue with a status column, in one database, for a long time. In the
 * middle a transaction keeps a snapshot open, so that no dead row can be removed.
 */
public final class Soak {

    private static final Duration EVERY = Duration.ofSeconds(10);

    private final Arena arena;
    private final SoakArguments arguments;
    private final PrintStream progress;
    private final List<Course> courses = new ArrayList<>();
    private final List<Double> heap = new ArrayList<>();
    private final long begin = System.nanoTime();

    /** One subject with its producer and its samples. */
    private static final class Course {

        final Subject subject;
        final Producer producer;
        final List<Sample> samples = new ArrayList<>();
        long delivered;

        Course(Subject subject, int rate) {
            this.subject = subject;
            this.producer = new Producer(subject, rate);
        }
    }

    private Soak(Arena arena, SoakArguments arguments, PrintStream progress) {
        this.arena = arena;
        this.arguments = arguments;
        this.progress = progress;
    }

    public static void main(String[] words) throws Exception {
        System.exit(run(List.of(words)));
    }

    static int run(List<String> words) throws Exception {
        SoakArguments arguments;
        try {
            arguments = SoakArguments.parse(words, Path.of(System.getProperty("postrider.bench.out", "soak-report")));
        } catch (IllegalArgumentException e) {
            System.err.println("postrider soak: " + e.getMessage());
            System.err.print(SoakArguments.USAGE);
            return 2;
        }
        if (arguments.help()) {
            System.out.print(SoakArguments.USAGE);
            return 0;
        }
        try (Arena arena = Arena.start(Engine.POSTGRESQL_18)) {
            SoakReport report = new Soak(arena, arguments, System.err).measure();
            write(report, arguments.out());
            System.out.print(report.markdown());
            return report.isGood() ? 0 : 1;
        }
    }

    private static void write(SoakReport report, Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("soak.md"), report.markdown());
        Files.writeString(directory.resolve("soak.csv"), report.csv());
    }

    private SoakReport measure() throws SQLException {
        add(new PostriderSubject(arena.pool(), false));
        add(new PostriderSubject(arena.pool(), true));
        if (!arguments.alone()) {
            add(new NaiveQueue(arena.pool()));
        }
        courses.forEach(course -> course.subject.start());
        courses.forEach(course -> course.producer.start());
        try {
            phase(Sample.Phase.BASELINE, arguments.baseline());
            try (Connection snapshot = hold()) {
                phase(Sample.Phase.HELD, arguments.held());
                snapshot.rollback();
                snapshot.setAutoCommit(true);
            }
            phase(Sample.Phase.RECOVERY, arguments.recovery());
        } finally {
            courses.forEach(course -> course.producer.close());
            courses.forEach(course -> course.subject.close());
        }
        Map<String, List<Sample>> named = new LinkedHashMap<>();
        courses.forEach(course -> named.put(course.subject.name(), course.samples));
        return new SoakReport(arena.describe(), arguments.rate(), named, heap);
    }

    private void add(Subject subject) {
        courses.add(new Course(subject, arguments.rate()));
    }

    private Connection hold() throws SQLException {
        Connection connection = arena.pool().getConnection();
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            statement.execute("SELECT count(*) FROM bench_order");
        }
        return connection;
    }

    private void phase(Sample.Phase phase, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        long next = System.nanoTime();
        while (System.nanoTime() < end) {
            next += EVERY.toNanos();
            while (System.nanoTime() < next) {
                LockSupport.parkNanos(next - System.nanoTime());
            }
            heap.add(heapAfterCollection());
            courses.forEach(course -> sample(phase, course));
        }
    }

    private void sample(Sample.Phase phase, Course course) {
        Subject subject = course.subject;
        long delivered = subject.delivered();
        double rate = (delivered - course.delivered) / (double) EVERY.toSeconds();
        course.delivered = delivered;
        Sample sample = new Sample(
                phase,
                (System.nanoTime() - begin) / 1_000_000_000,
                rate,
                course.producer.written() - delivered,
                subject.looks(),
                megabytes(subject.table()),
                subject.history().map(this::megabytes).orElse(0.0),
                arena.number("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = '" + subject.table() + "'"));
        course.samples.add(sample);
        progress.printf(
                "%-8s %5d s %-18s %7.0f/s, %7d waiting, look p50 %6d µs p99 %7d µs, %7.1f MB and %7.1f of history, %8d dead rows%n",
                phase.name().toLowerCase(Locale.ROOT),
                sample.second(),
                subject.name(),
                sample.rate(),
                sample.backlog(),
                sample.look(0.5),
                sample.look(0.99),
                sample.megabytes(),
                sample.history(),
                sample.deadRows());
    }

    private double megabytes(String table) {
        return arena.number("SELECT pg_total_relation_size('" + table + "')") / 1e6;
    }

    private static double heapAfterCollection() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6;
    }
}
