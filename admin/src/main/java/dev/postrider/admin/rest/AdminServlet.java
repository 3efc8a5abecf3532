package dev.postrider.admin.rest;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Connects the API to a servlet container. Map it to {@code /prefix/*}. Place filters that authenticate in front, and pass
 * the principal on: {@code authenticator(request -> operatorOf(request.sender().principal()))}. No component in front may
 * read the body. Each event stream occupies a thread of the container. Thread-safe.
 */
public final class AdminServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    private final transient AdminApi api;

    public AdminServlet(AdminApi api) {
        this.api = api;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        send(api.handle(read(request)), request, response);
    }

    private static AdminRequest read(HttpServletRequest request) throws IOException {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        Principal principal = request.getUserPrincipal();
        return new AdminRequest(
                request.getMethod(),
                path(request),
                request.getQueryString(),
                headers,
                request.getInputStream(),
                new AdminRequest.Sender(
                        principal == null ? null : principal.getName(), isLoopback(request.getLocalAddr())));
    }

    /** What follows the path of the servlet, as sent. A container decodes the other path, so one with escapes has no route. */
    private static String path(HttpServletRequest request) {
        String prefix = request.getContextPath() + request.getServletPath();
        String path = request.getRequestURI();
        return path.startsWith(prefix + "/") ? path.substring(prefix.length()) : "";
    }

    /** An empty address would be taken for the loopback one. */
    private static boolean isLoopback(@Nullable String address) {
        try {
            return address != null
                    && !address.isEmpty()
                    && InetAddress.getByName(address).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    private static void send(AdminResponse answer, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        try (EventStream stream = answer.stream()) {
            response.setStatus(answer.status());
            answer.headers().forEach(response::setHeader);
            if (stream != null) {
                AdminHttpHandler.copy(stream, response.getOutputStream());
                return;
            }
            byte[] body = answer.body().getBytes(UTF_8);
            response.setContentLength(body.length);
            if (!request.getMethod().equals("HEAD")) {
                response.getOutputStream().write(body);
            }
        }
    }
}
