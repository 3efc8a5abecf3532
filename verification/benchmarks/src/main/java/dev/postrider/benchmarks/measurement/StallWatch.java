package dev.postrider.benchmarks.measurement;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * The control of a latency measurement. A thread that does nothing else wakes every millisecond and notes how late it was: then the
 * computer or the JVM stood still for the measured system too. The pauses of the garbage collector are noted as well.
 */
final class StallWatch implements AutoCloseable {

    private static final long EVERY_NANOS = 1_000_000;

    /** A timer is always late by a fraction of this. */
    private static final long NOTED_NANOS = 300_000;

    private final ConcurrentLinkedQueue<Stalls.Span> delays = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Stalls.Span> pauses = new ConcurrentLinkedQueue<>();
    private final List<NotificationEmitter> collectors = new ArrayList<>();
    private final NotificationListener onCollection = this::collected;
    private final Thread thread = new Thread(this::watch, "stall-watch");
    private final long jvmStart;
    private volatile boolean stopping;

    StallWatch() {
        jvmStart = System.nanoTime() - ManagementFactory.getRuntimeMXBean().getUptime() * 1_000_000;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            // The cycles of concurrent collectors are no pauses.
            if (collector instanceof NotificationEmitter emitter
                    && !collector.getName().endsWith("Cycles")) {
                emitter.addNotificationListener(onCollection, null, null);
                collectors.add(emitter);
            }
        }
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        while (!stopping) {
            long due = System.nanoTime() + EVERY_NANOS;
            long now = due - EVERY_NANOS;
            while (now - due < 0) {
                LockSupport.parkNanos(due - now);
                now = System.nanoTime();
            }
            if (now - due > NOTED_NANOS) {
                delays.add(new Stalls.Span(due, now));
            }
        }
    }

    private void collected(Notification notification, Object handback) {
        if (notification.getUserData() instanceof CompositeData data
                && notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            GcInfo info = GarbageCollectionNotificationInfo.from(data).getGcInfo();
            pauses.add(new Stalls.Span(
                    jvmStart + info.getStartTime() * 1_000_000, jvmStart + info.getEndTime() * 1_000_000));
        }
    }

    Stalls stalls() {
        return new Stalls(List.copyOf(delays), List.copyOf(pauses));
    }

    @Override
    public void close() {
        stopping = true;
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(onCollection);
            } catch (ListenerNotFoundException e) {
                throw new IllegalStateException("The listener of collections is gone", e);
            }
        }
    }
}
