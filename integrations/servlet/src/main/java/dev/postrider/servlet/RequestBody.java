package dev.postrider.servlet;

import dev.postrider.idempotency.http.KeyedEndpoint;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the body of a request before other components read it. */
final class RequestBody {

    private static final String READ_BEFORE =
            "The request's body, or a part of it, was read before the IdempotencyKeyFilter: put the filter before"
                    + " every component that calls getParameter, getReader or getInputStream";

    private RequestBody() {}

    /**
     * Reads the body and checks that no component has read it before: the number of bytes must match Content-Length. A
     * chunked body has no length, and a body that a filter in front has decoded has another. An empty chunked body is
     * refused, because it was read before or could have been sent without chunks. It cannot be detected whether the
     * beginning of a chunked body was read before.
     *
     * @throws ServletException when the body was read before: without their bodies, different requests would have the
     *     same fingerprint
     */
    static byte[] read(HttpServletRequest request, KeyedEndpoint endpoint) throws IOException, ServletException {
        byte[] body = endpoint.read(request.getInputStream());
        if (body.length < endpoint.readLimit()
                && body.length < request.getContentLengthLong()
                && !mayBeDecoded(request, body)) {
            throw readBefore();
        }
        if (body.length == 0) {
            if (hasFormParameters(request)) {
                throw readBefore();
            }
            if (request.getHeader("Transfer-Encoding") != null) {
                throw new ServletException(READ_BEFORE
                        + ". Or the client sent an empty body in chunks: then it must send Content-Length: 0 instead");
            }
        }
        return body;
    }

    /** A filter in front can keep the length of the encoded body, which may be longer than the decoded one. */
    private static boolean mayBeDecoded(HttpServletRequest request, byte[] body) {
        ServletRequest sent = request;
        while (sent instanceof ServletRequestWrapper wrapper) {
            sent = wrapper.getRequest();
        }
        return body.length > 0
                && !request.equals(sent)
                && sent instanceof HttpServletRequest http
                && http.getHeader("Content-Encoding") != null;
    }

    private static ServletException readBefore() {
        return new ServletException(READ_BEFORE);
    }

    private static boolean hasFormParameters(HttpServletRequest request) {
        return isForm(request.getContentType())
                && parameters(request) > Form.ofQuery(request.getQueryString()).size();
    }

    private static int parameters(HttpServletRequest request) {
        try {
            return request.getParameterMap().size();
        } catch (RuntimeException e) {
            return 0; // the container cannot parse the query, so no component has read a parameter
        }
    }

    static boolean isForm(@Nullable String contentType) {
        return contentType != null
                && contentType.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }
}
