package dev.postrider.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** A security that believes what it is told. */
final class Believer implements Filter {

    static final String USER = "Test-User";
    static final String BANNED = "banned";

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
