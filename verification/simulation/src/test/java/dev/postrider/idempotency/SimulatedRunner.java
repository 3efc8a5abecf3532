package dev.postrider.idempotency;

import dev.postrider.event.EventListener;
import dev.postrider.internal.store.CommandStore;
import dev.postrider.internal.store.Transactions;
import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import dev.postrider.simulation.SimulatedPlatform;

/** Commands of a node on a simulated machine: the real ones. */
public final class SimulatedRunner {

    private SimulatedRunner() {}

    public static Commands on(
            Conductor conductor,
            Host host,
            CommandStore store,
            Transactions transactions,
            Background background,
            EventListener events) {
        return new CommandRunner(
                new CommandRunner.Database(store, store, transactions),
                CommandOptions.defaults(),
                background,
                events,
                new SimulatedPlatform(conductor, host));
    }
}
