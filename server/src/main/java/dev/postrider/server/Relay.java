package dev.postrider.server;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.error.SchemaMismatchException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects, delivers until it is told to end, drains. */
final class Relay {

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /** Claims, outcomes, leases and housekeeping each use one at a time; one to spare. */
    private static final int CONNECTIONS = 5;

    private final RelayConfig config;
    private final Path file;

    Relay(RelayConfig config, Path file) {
        this.config = config;
        this.file = file;
    }

    void runUntil(Shutdown shutdown) {
        Optional<HikariDataSource> connected =
                new Connecting(config.login(), CONNECTIONS).within(config.connectTimeout(), shutdown);
        if (connected.isEmpty()) {
            log.info("Told to end before the database answered");
            return;
        }
        try (HikariDataSource pool = connected.get();
                Postrider postrider = config.into(Postrider.on(pool)).build()) {
            start(postrider);
            log.info("Delivering {} from {}", String.join(", ", config.topics()), config.login());
            shutdown.await();
            log.info("Told to end: finishing what is under way");
        }
        log.info("Ended");
    }

    private void start(Postrider postrider) {
        if (config.migrateOnStart()) {
            postrider.migrate();
        }
        try {
            postrider.start();
        } catch (SchemaMismatchException e) {
            throw CommandFailure.schema(
                    e.getMessage() + ". For this configuration: postrider migrate --config " + file
                            + ", or migrate-on-start=true in that file",
                    e);
        }
    }
}
