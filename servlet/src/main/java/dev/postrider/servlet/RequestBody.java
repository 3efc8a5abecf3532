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
                && request.getParameterMap().size()
                        > Form.parse(request.getQueryString(), request).size();
    }

    static boolean isForm(@Nullable String contentType) {
        return contentType != null
                && contentType.toLowerCase(Locale.ROOT).startsWith("application/x-www-form-urlencoded");
    }
}
