package dev.postrider.simulation;

import java.util.Comparator;
import java.util.PriorityQueue;

/** Does things later, in a thread of its host: what arrives there. */
final class Network {

    private static final long IDLE = 3_600_000_000_000L;

    private record Arrival(long at, long number, Runnable what) {}

    private final Conductor conductor;
    private final Signal signal;
    private final PriorityQueue<Arrival> arrivals =
            new PriorityQueue<>(Comparator.comparingLong(Arrival::at).thenComparingLong(Arrival::number));
    private long numbers;

    Network(Conductor conductor, Host host) {
        this.conductor = conductor;
        this.signal = new Signal(conductor);
        conductor.begin(host, "network", this::carry);
    }

    void in(long nanos, Runnable what) {
        arrivals.add(new Arrival(conductor.nanos() + nanos, numbers++, what));
        signal.signal();
    }

    private void carry() {
        while (true) {
            Arrival next = arrivals.peek();
            if (next != null && next.at() <= conductor.nanos()) {
                arrivals.remove(next);
                next.what().run();
            } else {
                await(next == null ? IDLE : next.at() - conductor.nanos());
            }
        }
    }

    private void await(long nanos) {
        try {
            signal.await(nanos);
        } catch (InterruptedException e) {
            throw new AssertionError("no thread interrupts a network", e);
        }
    }
}
