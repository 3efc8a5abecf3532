package dev.postrider.servlet;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedEndpoint;
import dev.postrider.idempotency.http.KeyedResponse;
import dev.postrider.idempotency.http.ResponseBuffer;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs the filter chain for one protected request and sends its response. For one thread. */
final class ServletRun {

    private final KeyedEndpoint endpoint;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final FilterChain chain;
    private final byte[] body;
    /** The headers that filters in front of this filter have set. */
    private final Map<String, List<String>> before;

    private @Nullable CapturedResponse captured;

    ServletRun(
            KeyedEndpoint endpoint,
            HttpServletRequest request,
            HttpServletResponse response,
            FilterChain chain,
            byte[] body) {
        this.endpoint = endpoint;
        this.request = request;
        this.response = response;
        this.chain = chain;
        this.body = body;
        this.before = Headers.of(response);
    }

    KeyedResponse handle(@Nullable CommandTransaction transaction) throws IOException, ServletException {
        if (captured != null) {
            // filters and frameworks store state in the request, so the chain can run only once for a request
            throw new TransactionConflictException(new IllegalStateException("a servlet request runs only once"));
        }
        ResponseBuffer buffer = endpoint.buffer();
        captured = new CapturedResponse(response, buffer);
        request.setAttribute(IdempotencyKey.TRANSACTION, transaction);
        try {
            chain.doFilter(new CachedRequest(request, body, captured::forward), captured);
            if (request.isAsyncStarted()) {
                // a component unwrapped the request of the container
                request.getAsyncContext().complete();
                throw new IllegalStateException(CachedRequest.ASYNC);
            }
        } catch (IOException | ServletException | RuntimeException e) {
            buffer.refuseOverflow();
            throw e;
        } finally {
            request.removeAttribute(IdempotencyKey.TRANSACTION);
        }
        KeyedResponse answer = captured.answer();
        return Boolean.TRUE.equals(request.getAttribute(IdempotencyKey.UNRECORDED)) ? answer.unrecorded() : answer;
    }

    /**
     * Sends the response. First it removes the headers that the chain has set: the response contains those that are
     * still valid.
     */
    void send(KeyedResponse answer) throws IOException {
        if (captured != null) {
            response.reset();
            Headers.set(response, before);
        }
        Headers.set(response, answer.headers());
        // a problem comes from the endpoint and has no key header
        if (captured != null && captured.isError() && answer.header("Idempotency-Key") != null) {
            sendError(answer.status(), captured.errorMessage());
            return;
        }
        response.setStatus(answer.status());
        byte[] bytes = answer.body();
        if (bytes.length > 0) {
            response.setContentLength(bytes.length);
            response.getOutputStream().write(bytes);
        }
    }

    private void sendError(int status, @Nullable String message) throws IOException {
        if (message == null) {
            response.sendError(status);
        } else {
            response.sendError(status, message);
        }
    }
}
