package dev.postrider.simulation;

import dev.postrider.jdbc.SimulatedStores;
import java.time.Duration;
import java.util.List;

/** One run from one seed. */
public final class Simulation {

    /** After trouble has ended, this long is enough for everything: every lease over, every lane read from its beginning. */
    private static final Duration PATIENCE = Duration.ofSeconds(100);

    private Simulation() {}

    /**
     * What came of it.
     *
     * @param hash of everything that happened, in its order
     * @param steps how often the baton changed hands
     * @param messages how many were committed
     * @param arrivals how many deliveries arrived
     */
    record Run(
            long seed,
            long hash,
            long steps,
            int messages,
            int arrivals,
            Duration time,
            List<String> violations,
            List<String> trace) {

        boolean isGood() {
            return violations.isEmpty();
        }
    }

    static Run of(long seed, SimulatedStores.Speech speech, boolean traced) {
        Conductor conductor = new Conductor(new Chance(seed), traced);
        try {
            World world = new World(conductor, speech);
            world.run(PATIENCE);
            List<String> violations = Oracle.violations(world);
            return new Run(
                    seed,
                    conductor.hash(),
                    conductor.steps(),
                    (int) world.database().changes().stream()
                            .filter(change -> change.from() == null)
                            .count(),
                    world.destination().arrivals().size(),
                    Duration.ofNanos(conductor.nanos()),
                    violations,
                    List.copyOf(conductor.trace()));
        } finally {
            conductor.halt();
        }
    }
}
