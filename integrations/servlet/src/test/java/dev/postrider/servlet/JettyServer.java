package dev.postrider.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** A Jetty. */
final class JettyServer implements TestServer {

    static final String USER = Believer.USER;

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);

    JettyServer(List<Filter> filters, HttpServlet servlet) throws Exception {
        connector.setHost("localhost");
        connector.setAcceptQueueSize(1000);
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler();
        EnumSet<DispatcherType> all = EnumSet.of(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR);
        context.addFilter(new FilterHolder(new Believer()), "/*", all);
        for (Filter filter : filters) {
            FilterHolder holder = new FilterHolder(filter);
            holder.setAsyncSupported(true);
            context.addFilter(holder, "/*", all);
        }
        ServletHolder holder = new ServletHolder(servlet);
        holder.setAsyncSupported(true);
        context.addServlet(holder, "/*");
        server.setHandler(context);
        server.start();
    }

    @Override
    public URI uri() {
        return URI.create("http://localhost:" + connector.getLocalPort() + "/payments");
    }

    @Override
    public void stop() throws Exception {
        server.stop();
    }
}
