package dev.postrider.simulation;

import dev.postrider.internal.Platform;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** The platform of a simulated machine: virtual time, simulated threads, and randomness from the seed of the run. */
public final class SimulatedPlatform implements Platform {

    private static final long EPOCH_MILLIS = 1_800_000_000_000L;

    private final Conductor conductor;
    private final Host host;

    public SimulatedPlatform(Conductor conductor, Host host) {
        this.conductor = conductor;
        this.host = host;
    }

    @Override
    public long nanos() {
        return conductor.nanos();
    }

    @Override
    public long wallMillis() {
        return EPOCH_MILLIS + (conductor.nanos() + host.wallOffset()) / 1_000_000;
    }

    @Override
    public Instant now() {
        return Instant.ofEpochMilli(EPOCH_MILLIS).plusNanos(conductor.nanos() + host.wallOffset());
    }

    @Override
    public Platform.Latch latch() {
        List<Strand> waiting = new ArrayList<>();
        boolean[] open = new boolean[1];
        return new Platform.Latch() {
            @Override
            public void open() {
                open[0] = true;
                waiting.forEach(conductor::wake);
            }

            @Override
            public boolean await(long nanos) {
                long now = conductor.nanos();
                long until = nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
                waiting.add(conductor.current());
                while (!open[0] && conductor.nanos() < until) {
                    conductor.restUntil(until);
                }
                waiting.remove(conductor.current());
                return open[0];
            }
        };
    }

    @Override
    public Platform.Waiter waiter() {
        Signal signal = new Signal(conductor);
        return new Platform.Waiter() {
            @Override
            public void await(Duration atMost) throws InterruptedException {
                signal.await(atMost.toNanos());
            }

            @Override
            public void signal() {
                signal.signal();
            }
        };
    }

    /** Never started itself: it only stands for a simulated thread. */
    @Override
    public Thread thread(Object owner, Runnable task, String name) {
        return new Thread(name) {
            @Override
            public synchronized void start() {
                conductor.begin(host, name, task);
            }
        };
    }

    @Override
    public ExecutorService threads(Object owner, String name, int most) {
        return new Threads(name, most);
    }

    @Override
    public double chance() {
        return conductor.chance().fraction();
    }

    @Override
    public UUID id() {
        return conductor.chance().id();
    }

    /** A new one for each task. */
    private final class Threads extends AbstractExecutorService {

        private final String name;
        private final int most;
        private int running;
        private boolean ended;

        Threads(String name, int most) {
            this.name = name;
            this.most = most;
        }

        @Override
        public void execute(Runnable task) {
            if (ended || running == most) {
                throw new RejectedExecutionException("all " + most + " threads are taken");
            }
            running++;
            conductor.begin(host, name, () -> {
                try {
                    task.run();
                } finally {
                    running--;
                }
            });
        }

        @Override
        public void shutdown() {
            ended = true;
        }

        /** Interrupts no thread: no handler of a run needs it. */
        @Override
        public List<Runnable> shutdownNow() {
            ended = true;
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return ended;
        }

        @Override
        public boolean isTerminated() {
            return ended && running == 0;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return isTerminated();
        }
    }
}
