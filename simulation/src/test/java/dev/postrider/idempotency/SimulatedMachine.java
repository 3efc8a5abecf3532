package dev.postrider.idempotency;

import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import dev.postrider.simulation.Strand;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What commands take from their machine, on a simulated one. */
final class SimulatedMachine implements Surroundings {

    private static final Instant EPOCH = Instant.ofEpochSecond(1_800_000_000);

    private final Conductor conductor;
    private final Host host;

    SimulatedMachine(Conductor conductor, Host host) {
        this.conductor = conductor;
        this.host = host;
    }

    @Override
    public long nanos() {
        return conductor.nanos();
    }

    @Override
    public Instant now() {
        return EPOCH.plusNanos(conductor.nanos() + host.wallOffset());
    }

    @Override
    public Gate gate() {
        List<Strand> waiting = new ArrayList<>();
        boolean[] open = new boolean[1];
        return new Gate() {
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
    public double chance() {
        return conductor.chance().fraction();
    }

    @Override
    public UUID id() {
        return conductor.chance().id();
    }
}
