package dev.postrider.testkit.database;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/** One server per engine, started by the first request. A failed start is not repeated: later requests fail with the same reason. */
final class SharedServers {

    private final Function<Engine, DatabaseServer> starter;
    private final Map<Engine, DatabaseServer> started = new EnumMap<>(Engine.class);
    private final Map<Engine, DatabaseUnavailableException> unavailable = new EnumMap<>(Engine.class);

    SharedServers(Function<Engine, DatabaseServer> starter) {
        this.starter = starter;
    }

    synchronized DatabaseServer get(Engine engine) {
        DatabaseUnavailableException failure = unavailable.get(engine);
        if (failure != null) {
            throw new DatabaseUnavailableException(engine, failure.reason(), failure.fix(), failure);
        }
        try {
            return started.computeIfAbsent(engine, starter);
        } catch (DatabaseUnavailableException e) {
            unavailable.put(engine, e);
            throw e;
        }
    }
}
