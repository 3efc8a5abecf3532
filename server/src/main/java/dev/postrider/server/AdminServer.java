package dev.postrider.server;

import com.sun.net.httpserver.HttpServer;
import dev.postrider.Postrider;
import dev.postrider.admin.rest.AdminApi;
import dev.postrider.admin.rest.AdminApiBuilder;
import dev.postrider.admin.rest.AdminEvents;
import dev.postrider.admin.rest.AdminHttpHandler;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the admin API of a relay over HTTP. */
final class AdminServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(AdminServer.class);

    /** Beside these, each event stream occupies a thread. */
    private static final int THREADS = 4;

    private final AdminEvents events;
    private final HttpServer server;
    private final ExecutorService threads;

    private AdminServer(AdminEvents events, HttpServer server, ExecutorService threads) {
        this.events = events;
        this.server = server;
        this.threads = threads;
    }

    /** @param events a listener of the Postrider */
    static AdminServer start(InetSocketAddress address, AdminConfig config, Postrider postrider, AdminEvents events) {
        HttpServer server = HttpServers.open(AdminConfig.ADMIN_PORT, address);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS + AdminEvents.MOST_STREAMS, task -> {
            Thread thread = new Thread(task, "postrider-admin");
            thread.setDaemon(true);
            return thread;
        });
        AdminServer started = new AdminServer(events, server, threads);
        server.createContext("/", new AdminHttpHandler(api(config, postrider, events)));
        server.setExecutor(threads);
        server.start();
        log.info(
                "Admin API at http://{}:{}/v1, {}",
                server.getAddress().getHostString(),
                server.getAddress().getPort(),
                config.tokens()
                        .map(tokens -> "for operators with a token")
                        .orElse("for every program of this machine"));
        return started;
    }

    private static AdminApi api(AdminConfig config, Postrider postrider, AdminEvents events) {
        AdminApiBuilder builder = AdminApi.on(postrider.admin()).events(events).idempotency(postrider.commands());
        config.tokens().ifPresent(builder::authenticator);
        config.payloadsFor().ifPresent(builder::payloadsFor);
        return (config.isReadOnly() ? builder.readOnly() : builder).build();
    }

    @Override
    public void close() {
        events.close();
        server.stop(0);
        threads.shutdownNow();
    }
}
