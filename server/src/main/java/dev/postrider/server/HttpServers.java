package dev.postrider.server;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;

/** Opens servers of the JDK for metrics and for the admin API. */
final class HttpServers {

    /** How long a client may take for its request, in seconds. The JDK reads this once; without it there is no limit. */
    private static final String REQUEST_TIME = "sun.net.httpserver.maxReqTime";

    private static final String SECONDS = "30";
    private static final int BACKLOG = 16;

    private HttpServers() {}

    /** @param property the property of the port, for the error */
    static HttpServer open(String property, InetSocketAddress address) {
        if (System.getProperty(REQUEST_TIME) == null) {
            System.setProperty(REQUEST_TIME, SECONDS);
        }
        try {
            return HttpServer.create(address, BACKLOG);
        } catch (IOException e) {
            throw CommandFailure.usage(property + " " + address.getPort() + " cannot be opened on "
                    + address.getHostString() + ": " + e.getMessage());
        }
    }
}
