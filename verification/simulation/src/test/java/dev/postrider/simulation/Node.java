package dev.postrider.simulation;

import dev.postrider.dispatch.SimulatedNode;
import dev.postrider.idempotency.Commands;
import dev.postrider.jdbc.SimulatedStores;

/** A node of the application: what delivers, what runs commands, and the way to the database. */
record Node(SimulatedNode engine, SimulatedStores stores, Commands commands) {

    Host host() {
        return engine.host();
    }
}
