package dev.postrider.server;

import com.sun.net.httpserver.HttpServer;
import dev.postrider.server.cli.CommandFailure;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;

/** Opens servers of the JDK for metrics and for the admin API. */
final class HttpServers {

    /**
     * What the JDK reads once, before its first server. How long a client may take for its request, in seconds: without it
     * there is no limit. And whether a response is sent at once: without it the body may wait 40 ms behind the headers.
     */
    private static final Map<String, String> SETTINGS =
            Map.of("sun.net.httpserver.maxReqTime", "30", "sun.net.httpserver.nodelay", "true");

    private static final int BACKLOG = 16;

    private HttpServers() {}

    /** @param property the property of the port, for the error */
    static HttpServer open(String property, InetSocketAddress address) {
        SETTINGS.forEach((name, value) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, value);
            }
        });
        try {
            return HttpServer.create(address, BACKLOG);
        } catch (IOException e) {
            throw CommandFailure.usage(property + " " + address.getPort() + " cannot be opened on "
                    + address.getHostString() + ": " + e.getMessage());
        }
    }
}
