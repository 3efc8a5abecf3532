package dev.postrider.torture;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Injects the scheduled faults at their times, and ends them. Thread-safe. */
final class Nemesis {

    /** One in this many terminated sessions is one that is committing. */
    private static final int COMMIT_SHARE = 3;

    /** A fault that happened, with begin and end in microseconds. */
    record Broken(FaultKind kind, String target, long from, long to) {}

    private final Site site;
    private final Operator operator;
    private final Journal journal;
    private final Semaphore crash = new Semaphore(1);
    private final Map<PlannedFault, String> now = new ConcurrentHashMap<>();
    private final List<Broken> broken = new ArrayList<>();
    private final Map<FaultKind, Integer> notDone = new EnumMap<>(FaultKind.class);
    private final Thread thread;
    private volatile long ended;

    Nemesis(Site site, Operator operator, Journal journal, Schedule schedule) {
        this.site = site;
        this.operator = operator;
        this.journal = journal;
        this.thread = Parent.daemon("nemesis", () -> run(schedule));
    }

    private void run(Schedule schedule) {
        long start = System.nanoTime();
        List<Thread> running = new ArrayList<>();
        try {
            for (PlannedFault planned : schedule.faults()) {
                long wait = planned.atMillis() - (System.nanoTime() - start) / 1_000_000;
                TimeUnit.MILLISECONDS.sleep(Math.max(0, wait));
                running.add(Parent.daemon(planned.kind().word(), () -> commit(planned)));
            }
            for (Thread each : running) {
                each.join();
            }
            ended = Journal.now();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until all faults have ended, and returns the time of that. */
    long await() throws InterruptedException {
        thread.join();
        return ended;
    }

    private void commit(PlannedFault planned) {
        Fault fault = fault(planned);
        long from = Journal.now();
        now.put(planned, planned.kind().word());
        boolean begun = false;
        try {
            begun = fault.begin();
            long left = planned.lengthMillis() * 1000L - (Journal.now() - from);
            if (begun && left > 0) {
                TimeUnit.MICROSECONDS.sleep(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            // Another fault broke a part that this one needs.
        } finally {
            end(planned, fault, begun, from);
        }
    }

    private void end(PlannedFault planned, Fault fault, boolean begun, long from) {
        try {
            if (begun) {
                fault.end();
            }
        } catch (Exception e) {
            System.err.println("Cannot mend " + planned + ": " + e);
        }
        now.remove(planned);
        synchronized (this) {
            if (begun) {
                Broken done = new Broken(planned.kind(), fault.target(), from, Journal.now());
                broken.add(done);
                journal.write(
                        "fault",
                        "kind",
                        done.kind().word(),
                        "target",
                        done.target(),
                        "fromMicros",
                        done.from(),
                        "toMicros",
                        done.to());
            } else {
                notDone.merge(planned.kind(), 1, Integer::sum);
            }
        }
    }

    private Fault fault(PlannedFault planned) {
        int pick = planned.pick();
        int lot = pick / 1000; // for choices that must not depend on the target
        return switch (planned.kind()) {
            case KILL_WORKER -> StruckProcess.killed(site.workers(), "worker", pick);
            case KILL_PRODUCER -> StruckProcess.killed(site.producers(), "producer", pick);
            case KILL_CONSUMER -> StruckProcess.killed(site.consumers(), "consumer", pick);
            case KILL_CALLER -> StruckProcess.killed(site.callers(), "caller", pick);
            case PAUSE_WORKER -> StruckProcess.paused(site.workers(), "worker", planned);
            case PAUSE_CALLER -> StruckProcess.paused(site.callers(), "caller", planned);
            case CRASH_DATABASE -> new CrashDatabase(site.server(), crash);
            case PROMOTE_STANDBY -> new PromoteStandby(site.server(), crash);
            case TERMINATE_SESSION ->
                new TerminateSession(site.engine(), site.database(), lot % COMMIT_SHARE == 0, pick);
            case CUT -> BrokenLine.cut(one(site.all(), pick));
            case DELAY -> BrokenLine.delay(one(site.all(), pick), Duration.ofMillis(200 + lot % 1800));
            case HALF_OPEN -> BrokenLine.halfOpen(one(site.all(), pick));
            case SWALLOW_COMMIT -> new SwallowCommit(one(site.all(), pick), lot % 2 == 0);
            case DESTINATION_DOWN -> TroubledReceiver.down(site.receiver());
            case RECEIVER_SLOW -> TroubledReceiver.inMood(site.receiver(), Receiver.Mood.SLOW);
            case RECEIVER_REFUSING -> TroubledReceiver.inMood(site.receiver(), Receiver.Mood.REFUSING);
            case RECEIVER_DROPPING -> TroubledReceiver.inMood(site.receiver(), Receiver.Mood.DROPPING);
            case LONG_WRITE -> new LongWrite(one(site.producers(), pick), lot % Business.LATE_KEYS);
            case LONG_READ -> new LongRead(site.database());
            case EXHAUST_CONNECTIONS ->
                new ExhaustConnections(site.database(), Duration.ofMillis(planned.lengthMillis()));
            case RESTART_GRACEFULLY -> new RestartGracefully(site.workers());
            case REBALANCE -> new Rebalance(site);
            case PAUSE_TOPIC ->
                new PauseTopic(
                        operator, Business.topics().get(pick % Business.topics().size()));
            case CLOCK_SKEW ->
                WrongClock.ahead(
                        () -> Slot.takeOne(site.workers(), pick, true), site.mutant(), lot % 2 == 0 ? 3600 : -3600);
            case CLOCK_STEP ->
                WrongClock.setBack(
                        () -> Slot.takeOne(site.workers(), pick, true),
                        site.mutant(),
                        site.directory().resolve("logs").resolve("clock-" + planned.atMillis()));
        };
    }

    private static Slot one(List<Slot> slots, int pick) {
        return slots.get(pick % slots.size());
    }

    /** The faults that are active at this moment. */
    List<String> now() {
        return now.values().stream().sorted().toList();
    }

    /** The faults that have ended. */
    synchronized List<Broken> broken() {
        return List.copyOf(broken);
    }

    /** The scheduled faults that were not possible at their time, for instance because of another fault. */
    synchronized Map<FaultKind, Integer> notDone() {
        return new TreeMap<>(notDone);
    }
}
