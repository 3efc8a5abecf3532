package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import dev.postrider.store.HandOver;
import dev.postrider.store.Stores;
import java.util.List;

/** A node at work on a simulated machine: the real engine, with all of its threads. */
public final class SimulatedNode {

    private final Host host;
    private final Engine engine;

    public SimulatedNode(
            Conductor conductor,
            Host host,
            Stores stores,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events) {
        this.host = host;
        this.engine = new Engine(
                stores, topics, options, events, HandOver.none(), false, new SimulatedSurroundings(conductor, host));
    }

    public Host host() {
        return host;
    }

    public void start() {
        engine.start();
    }

    /** Something was committed somewhere: look for it now. */
    public void wake() {
        engine.wake();
    }

    /** Gracefully; to be called in a simulated thread of its host. */
    public void stop() {
        engine.stop();
    }
}
