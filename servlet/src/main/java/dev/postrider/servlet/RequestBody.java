package dev.postrider.servlet;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the body of a request before anybody else does. */
final class RequestBody {

    private RequestBody() {}

    /**
     * @throws ServletException when somebody was faster: without its body, every request would look like every other
     */
    static byte[] read(HttpServletRequest request, int limit) throws IOException, ServletException {
        byte[] body = request.getInputStream().readNBytes(limit);
        boolean gone = body.length == 0 && (request.getContentLengthLong() > 0 || hasFormParameters(request));
        if (gone) {
            throw new ServletException(
                    "The request's body was read before the IdempotencyKeyFilter: put the filter before"
                            + " whatever calls getParameter, getReader or getInputStream");
        }
        return body;
    }

    private static boolean hasFormParameters(HttpServletRequest request) {
        return isForm(request.getContentType())
                && parameters(request)
                        > Form.parse(request.getQueryString(), request).size();
    }

    private static int parameters(HttpServletRequest request) {
        try {
            return request.getParameterMap().size();
        } catch (RuntimeException e) {
            return 0; // the container cannot read the query, so nobody has got a parameter from it
        }
    }

    static boolean isForm(@Nullable String contentType) {
        return contentType != null
                && contentType.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }
}
