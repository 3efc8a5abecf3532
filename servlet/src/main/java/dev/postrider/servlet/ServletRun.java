package dev.postrider.servlet;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.http.AnswerBuffer;
import dev.postrider.idempotency.http.HttpAnswer;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedEndpoint;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One protected request: what is behind the filter, and how its answer is sent. For one thread. */
final class ServletRun {

    private final KeyedEndpoint endpoint;
    private final HttpServletRequest request;
    private final HttpServletResponse response;
    private final FilterChain chain;
    private final byte[] body;
    /** Of whoever is in front of the filter. */
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

    HttpAnswer handle(@Nullable CommandTransaction transaction) throws IOException, ServletException {
        if (captured != null) {
            // filters and frameworks keep their state in the request: what is behind can run for it only once
            throw new TransactionConflictException(new IllegalStateException("a servlet request runs only once"));
        }
        AnswerBuffer buffer = endpoint.buffer();
        captured = new CapturedResponse(response, buffer);
        request.setAttribute(IdempotencyKey.TRANSACTION, transaction);
        try {
            chain.doFilter(new CachedRequest(request, body), captured);
        } catch (IOException | ServletException | RuntimeException e) {
            buffer.refuseOverflow();
            throw e;
        } finally {
            request.removeAttribute(IdempotencyKey.TRANSACTION);
        }
        HttpAnswer answer = captured.answer();
        return Boolean.TRUE.equals(request.getAttribute(IdempotencyKey.UNRECORDED)) ? answer.unrecorded() : answer;
    }

    /** The headers that the chain left in the response are taken back first: the answer has them all if they are still true. */
    void send(HttpAnswer answer) throws IOException {
        if (captured != null) {
            response.reset();
            Headers.set(response, before);
        }
        Headers.set(response, answer.headers());
        // a problem is the endpoint's own and carries no key
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
