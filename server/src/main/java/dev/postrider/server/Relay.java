package dev.postrider.server;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.PostriderBuilder;
import dev.postrider.admin.rest.AdminEvents;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.postgresql.PostgresDoorbell;
import dev.postrider.server.cli.CommandFailure;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects to the database, delivers until a shutdown is requested, and drains. */
final class Relay {

    private static final Logger log = LoggerFactory.getLogger(Relay.class);

    /**
     * Claims, three writers of outcomes, leases, lanes, isolated deliveries, housekeeping and samples use one connection
     * each.
     */
    private static final int CONNECTIONS = 9;

    /** For the admin API: an operator must not take connections from the delivery. */
    private static final int ADMIN_CONNECTIONS = 4;

    private final RelayConfig config;
    private final Path file;

    Relay(RelayConfig config, Path file) {
        this.config = config;
        this.file = file;
    }

    /** Metrics and health are served from the beginning, so that a relay that waits for its database is seen to live. */
    void runUntil(Shutdown shutdown) {
        config.admin().address(); // what is refused is refused before anything starts
        Monitoring monitoring = new Monitoring(config.monitoring());
        Optional<InetSocketAddress> address = config.monitoring().address();
        if (address.isEmpty()) {
            deliverUntil(shutdown, monitoring);
            return;
        }
        try (MonitoringServer server = MonitoringServer.start(address.get(), monitoring)) {
            log.debug("Serving metrics on port {}", server.port());
            deliverUntil(shutdown, monitoring);
        }
    }

    private void deliverUntil(Shutdown shutdown, Monitoring monitoring) {
        Optional<HikariDataSource> connected =
                new Connecting(config.login(), CONNECTIONS).within(config.connectTimeout(), shutdown);
        if (connected.isEmpty()) {
            log.info("Shutdown requested before the database answered");
            return;
        }
        AdminEvents events = AdminEvents.of(monitoring.check());
        try (HikariDataSource pool = connected.get();
                HikariDataSource bell = bell();
                HikariDataSource operators = poolOfOperators();
                Postrider postrider = observed(on(pool, operators), monitoring, events, bell)) {
            start(postrider);
            try (AdminServer admin = admin(postrider, events)) {
                log.debug("The admin API is {}", admin == null ? "off" : "on");
                monitoring.delivering(true);
                log.info("Delivering {} from {}", String.join(", ", config.topics()), config.login());
                shutdown.await();
                log.info("Shutdown requested: finishing running deliveries");
                monitoring.delivering(false);
            }
        }
        log.info("Ended");
    }

    private @Nullable AdminServer admin(Postrider postrider, AdminEvents events) {
        return config.admin()
                .address()
                .map(address -> AdminServer.start(address, config.admin(), postrider, events))
                .orElse(null);
    }

    private @Nullable HikariDataSource poolOfOperators() {
        return config.admin().isEnabled()
                ? Connecting.beside(config.login(), "postrider-admin", ADMIN_CONNECTIONS)
                : null;
    }

    private PostriderBuilder on(HikariDataSource pool, @Nullable HikariDataSource operators) {
        return config.into(
                operators == null ? Postrider.on(pool) : Postrider.on(operators).dispatchOn(pool));
    }

    private Postrider observed(
            PostriderBuilder given, Monitoring monitoring, AdminEvents events, HikariDataSource bell) {
        PostriderBuilder builder = given;
        if (config.monitoring().address().isPresent() || config.admin().isEnabled()) {
            builder = monitoring.into(builder);
        }
        if (config.admin().isEnabled()) {
            builder = builder.listener(events);
        }
        return (config.doorbell() ? builder.doorbell(PostgresDoorbell.on(bell)) : builder).build();
    }

    /**
     * One connection to listen and one to ring are kept as long as they last. A connection is opened when it is first
     * needed.
     */
    private HikariDataSource bell() {
        HikariDataSource bell = new HikariDataSource();
        bell.setPoolName("postrider-doorbell");
        bell.setDataSource(new LimitedLogin(config.login()));
        bell.setConnectionTimeout(LimitedLogin.LIMIT.toMillis());
        bell.setMaximumPoolSize(2);
        bell.setMinimumIdle(0);
        bell.setMaxLifetime(0);
        return bell;
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
