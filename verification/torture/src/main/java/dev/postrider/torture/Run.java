package dev.postrider.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One run from the first process to the verdict: load with faults, then draining without faults, then the check. */
final class Run {

    /** The share of messages that workers write. */
    private static final double BY_WORKERS = 0.1;

    private static final long LOOK_MILLIS = 250;

    /** The backlog is not counted each time, since the count costs more the longer a snapshot is open. */
    private static final int LOOKS_PER_COUNT = 4;

    /** The backlog at which fewer messages are written: this number, or the messages of this many seconds. */
    private static final double MOST_WAITING = 2000;

    private static final double WAITING_SECONDS = 5;

    /**
     * The highest rate, as a multiple of the average one. Messages that faults have delayed are written at the end. Without this limit
     * they come faster than the computer delivers, and I15 would take the overload for a neighbour that disturbs.
     */
    private static final double FASTEST = 2;

    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    /** After this share of the time no message gets a later delivery time, so that all are due before the draining. */
    private static final double SCHEDULED_UNTIL = 0.85;

    private final Arguments arguments;
    private final Consumer<String> live;
    private final Map<String, String> properties = new LinkedHashMap<>();
    private int deaths;
    private long backlog;

    /** @param live gets a progress line from time to time */
    Run(Arguments arguments, Consumer<String> live) {
        this.arguments = arguments;
        this.live = live;
    }

    Summary run() throws InterruptedException {
        Random random = new Random(arguments.seed());
        Schedule schedule = Schedule.of(random.nextLong(), arguments.seconds(), arguments.faults());
        try (Site site = new Site(arguments, random);
                Journal nemesisJournal = site.journal("nemesis");
                Journal operatorJournal = site.journal("operator")) {
            site.begin();
            describe(site);
            Operator operator = new Operator(site.database(), operatorJournal, new Random(random.nextLong()));
            Nemesis nemesis = new Nemesis(site, operator, nemesisJournal, schedule);
            load(site, nemesis);
            properties.put("faultsEnded", Long.toString(nemesis.await()));
            operator.clear();
            String undrained = drain(site, nemesis);
            operator.stop();
            settle(site);
            stop(site);
            properties.put("ended", Long.toString(Journal.now()));
            return judge(site, nemesis, undrained);
        }
    }

    private void describe(Site site) {
        properties.put("seed", Long.toString(arguments.seed()));
        properties.put("commit", System.getProperty("postrider.commit", "unknown"));
        properties.put("engine", Arguments.name(arguments.engine()));
        properties.put("engineVersion", version(site));
        properties.put("java", System.getProperty("java.version"));
        properties.put("mutant", Objects.requireNonNullElse(arguments.mutant(), "none"));
        properties.put("seconds", Integer.toString(arguments.seconds()));
        properties.put("messages", Long.toString(arguments.messages()));
        properties.put("leaseMillis", Long.toString(Pace.of(arguments).lease().toMillis()));
        properties.put("deadRetentionMillis", Long.toString(Pace.DEAD_RETENTION.toMillis()));
        properties.put("pollMillis", Long.toString(Pace.POLL.toMillis()));
        properties.put("maxAttempts", Integer.toString(Pace.MAX_ATTEMPTS));
        properties.put("inFlight", Integer.toString(Pace.IN_FLIGHT));
        properties.put("policy." + Business.FLOW, "GO_ON");
        properties.put("troubled", arguments.trouble() ? String.join(",", Business.troubled()) : "");
        for (String topic : Business.troubled()) {
            int most = Business.isHandled(topic) ? Business.TROUBLED_ATTEMPTS : Pace.MAX_ATTEMPTS;
            properties.put("maxAttempts." + topic, Integer.toString(most));
        }
        properties.put("workers", Integer.toString(Site.WORKERS));
        properties.put("started", Long.toString(Journal.now()));
    }

    private static String version(Site site) {
        try (Connection connection = site.database().dataSource().getConnection()) {
            return connection.getMetaData().getDatabaseProductVersion();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Writes the wanted number of messages in the given time, or in up to 1.5 times that time if faults prevent it. */
    private void load(Site site, Nemesis nemesis) throws InterruptedException {
        Committed committed = new Committed(arguments.directory());
        Progress progress = new Progress(site, nemesis, live);
        long start = System.nanoTime();
        boolean scheduling = true;
        for (int looks = 0; true; looks++) {
            double gone = (System.nanoTime() - start) / 1e9;
            long count = committed.count(site.processes());
            if (gone > arguments.seconds() && (count >= arguments.messages() || gone > arguments.seconds() * 1.5)) {
                break;
            }
            pace(site, count, gone);
            if (scheduling && gone > arguments.seconds() * SCHEDULED_UNTIL) {
                scheduling = false;
            }
            if (!scheduling) {
                site.workers().forEach(slot -> slot.tell("unscheduled"));
                site.producers().forEach(slot -> slot.tell("unscheduled"));
            }
            revive(site);
            if (looks % LOOKS_PER_COUNT == 0) {
                look(site);
            }
            progress.show(gone, count, backlog, "");
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
        rate(site, 0);
    }

    /**
     * Sets the rate: high enough to finish in time, but reduced when the backlog grows. On an overloaded computer a worker would be
     * killed before it is ready.
     */
    private void pace(Site site, long committed, double gone) {
        double left = Math.max(1, arguments.seconds() * 0.97 - gone);
        double average = (double) arguments.messages() / arguments.seconds();
        double wanted = Math.max(0, Math.min(FASTEST * average, (arguments.messages() - committed) / left));
        double most = Math.max(MOST_WAITING, WAITING_SECONDS * average);
        rate(site, wanted * Math.max(0, Math.min(1, 2 - 2 * backlog / most)));
    }

    private static void rate(Site site, double perSecond) {
        site.producers()
                .forEach(slot -> slot.rate(
                        perSecond * (1 - BY_WORKERS) / site.producers().size()));
        site.workers().forEach(slot -> slot.rate(perSecond * BY_WORKERS / Site.WORKERS));
    }

    private void revive(Site site) {
        for (Slot slot : site.all()) {
            deaths += slot.revive() ? 1 : 0;
        }
    }

    private void look(Site site) {
        try {
            backlog = site.backlog();
        } catch (SQLException e) {
            // The database is down or has no free connection. The previous count is precise enough.
        }
    }

    /** @return what is left when the time is over; empty if nothing is left */
    private String drain(Site site, Nemesis nemesis) throws InterruptedException {
        Progress progress = new Progress(site, nemesis, live);
        look(site);
        long start = System.nanoTime();
        long limit = TimeUnit.SECONDS.toNanos(240 + (backlog + site.feed().open()) / 100);
        properties.put("drainLimitMillis", Long.toString(limit / 1_000_000));
        while (backlog > 0 || site.feed().open() > 0) {
            if (System.nanoTime() - start > limit) {
                return backlog + " messages and " + site.feed().open() + " on their way to consumers";
            }
            revive(site);
            progress.show((System.nanoTime() - start) / 1e9, -1, backlog, "draining");
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
            look(site);
        }
        properties.put("drainedAfterMillis", Long.toString((System.nanoTime() - start) / 1_000_000));
        return "";
    }

    /** Repeats commands whose caller died, as their callers would. Afterwards no command may be in progress. */
    private static void settle(Site site) throws InterruptedException {
        for (int i = 1; i < site.callers().size(); i++) {
            site.callers().get(i).current().stop(STOP_LIMIT);
        }
        Child last = site.callers().get(0).current();
        last.tell("settle");
        last.awaitSettled(Duration.ofSeconds(60));
    }

    /** Stops all processes gracefully. Processes that do not stop in time are killed and counted. */
    private void stop(Site site) throws InterruptedException {
        int unwilling = 0;
        for (Slot slot : site.all()) {
            boolean alive = slot.current().isAlive();
            unwilling += alive && !slot.current().stop(STOP_LIMIT) ? 1 : 0;
        }
        properties.put("notStopped", Integer.toString(unwilling));
    }

    private Summary judge(Site site, Nemesis nemesis, String undrained) throws InterruptedException {
        write();
        Sums sums;
        try {
            sums = Sums.of(arguments.directory(), site.texts("SELECT tx FROM torture_transaction"), site.dead());
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return new Summary(
                arguments.directory(),
                Map.copyOf(properties),
                sums,
                nemesis.broken(),
                nemesis.notDone(),
                site.tally().perSecond(),
                site.tally().duplicates(),
                undrained,
                deaths,
                Judgement.of(arguments.directory(), site.database()));
    }

    private void write() {
        StringBuilder text = new StringBuilder();
        properties.forEach((name, value) -> text.append(name)
                .append('=')
                .append(value.replace("\\", "\\\\"))
                .append('\n'));
        try {
            Files.writeString(
                    arguments.directory().resolve("run.properties"), text.toString(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
