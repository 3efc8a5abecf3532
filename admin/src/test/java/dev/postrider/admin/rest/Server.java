package dev.postrider.admin.rest;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.ServerConnector;

/** The servers that the API is tried in, each under the same prefix. */
enum Server {
    JDK {
        @Override
        Running start(AdminApi api) throws Exception {
            System.setProperty("sun.net.httpserver.nodelay", "true"); // the JDK reads it once
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            ExecutorService threads = Executors.newCachedThreadPool();
            server.setExecutor(threads);
            server.createContext(PREFIX, new AdminHttpHandler(api));
            server.start();
            return new Running(server.getAddress().getPort(), () -> {
                server.stop(0);
                threads.shutdownNow();
            });
        }
    },
    JETTY {
        @Override
        Running start(AdminApi api) throws Exception {
            org.eclipse.jetty.server.Server server = new org.eclipse.jetty.server.Server();
            ServerConnector connector = new ServerConnector(server, 1, 1);
            connector.setHost("localhost");
            server.addConnector(connector);
            ServletContextHandler context = new ServletContextHandler("/ops");
            context.addServlet(new ServletHolder(new AdminServlet(api)), "/admin/*");
            server.setHandler(context);
            server.setStopTimeout(0);
            server.start();
            return new Running(connector.getLocalPort(), () -> server.stop());
        }
    };

    static final String PREFIX = "/ops/admin";

    abstract Running start(AdminApi api) throws Exception;

    /** A server that runs. */
    record Running(int port, AutoCloseable stop) implements AutoCloseable {

        @Override
        public void close() {
            try {
                stop.close();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }

        Client client(String token) {
            return new Client(port, token);
        }
    }
}
