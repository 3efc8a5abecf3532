package dev.postrider.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.security.Principal;
import java.util.EnumSet;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.jspecify.annotations.Nullable;

/** A Jetty with one servlet behind filters, and a security in front of them that believes what it is told. */
final class JettyServer {

    static final String USER = "Test-User";
    static final String BANNED = "banned";

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

    URI uri() {
        return URI.create("http://localhost:" + connector.getLocalPort() + "/payments");
    }

    void stop() throws Exception {
        server.stop();
    }

    private static final class Believer implements Filter {

        @Override
        public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
                throws IOException, ServletException {
            HttpServletRequest http = (HttpServletRequest) request;
            ((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", "https://example.org");
            String user = http.getHeader(USER);
            if (BANNED.equals(user)) {
                ((HttpServletResponse) response).sendError(403);
                return;
            }
            chain.doFilter(new Believed(http, user == null || user.isEmpty() ? null : user), response);
        }
    }

    private static final class Believed extends HttpServletRequestWrapper {

        private final @Nullable String user;

        Believed(HttpServletRequest request, @Nullable String user) {
            super(request);
            this.user = user;
        }

        @Override
        public @Nullable Principal getUserPrincipal() {
            String name = user;
            return name == null ? null : () -> name;
        }
    }
}
