package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.idempotency.Background;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Stores;
import dev.postrider.message.Message;
import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import dev.postrider.simulation.SimulatedPlatform;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** A node at work on a simulated machine: the real engine, with all of its threads. */
public final class SimulatedNode implements Background {

    private final Host host;
    private final Engine engine;
    private final Heartbeat heartbeat;

    public SimulatedNode(
            Conductor conductor,
            Host host,
            Stores stores,
            List<Topic> topics,
            DispatchOptions options,
            EventListener events) {
        this.host = host;
        Platform platform = new SimulatedPlatform(conductor, host);
        this.engine = new Engine(stores, new NodeSettings(topics, options, events), handOver(), false, platform);
        this.heartbeat = new Heartbeat("commands", events, platform);
    }

    public Host host() {
        return host;
    }

    public void start() {
        engine.start();
    }

    /** Something was committed somewhere: look for it now. */
    public void wake() {
        engine.wakeUps().scanNow();
    }

    /** Takes over what is written in this process, as {@link Dispatcher#handOver()} does. */
    public HandOver handOver() {
        return new HandOver() {
            @Override
            public Reservation reserve(List<Message> messages) {
                return engine.reserve(messages);
            }

            @Override
            public void committed(Collection<Message> messages) {
                engine.wakeUps().committed(messages);
            }
        };
    }

    /** Keeps up the leases of its commands. */
    @Override
    public Runnable every(Supplier<Duration> duty) {
        return heartbeat.every(duty);
    }

    @Override
    public void start(Runnable task) {
        heartbeat.start(task);
    }

    /** Gracefully; to be called in a simulated thread of its host. */
    public void stop() {
        engine.stop();
        heartbeat.close();
    }
}
