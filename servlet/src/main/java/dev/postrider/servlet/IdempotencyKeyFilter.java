package dev.postrider.servlet;

import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.HttpAnswer;
import dev.postrider.idempotency.http.HttpCall;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedEndpoint;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One operation's {@code Idempotency-Key}, for the servlets and filters behind it. Map it to that operation, behind whatever
 * authenticates and authorises, so that this also happens before a replay; the caller is the request's user principal unless the
 * {@link IdempotencyKey} says otherwise. Put it before anything that reads bodies or parameters, and inside of compression.
 *
 * <p>The command's transaction is {@link #transaction(ServletRequest)}. It takes a connection when it is first used, so what is behind
 * the filter can take connections of its own without holding two. What is done in it commits with the answer; what is done elsewhere does not, and is done again if this process dies in between: see {@code
 * docs/http-idempotency.md} before you use it with transactions of your own.
 *
 * <p>The answer is held back until the record is committed. Requests cannot be asynchronous, nor multipart, as long as they carry
 * a key: both are refused with a message. An error page that the container makes for {@code sendError} is not part of the answer;
 * a repeat gets its status. Thread-safe.
 */
public final class IdempotencyKeyFilter implements Filter {

    private final KeyedEndpoint endpoint;

    public IdempotencyKeyFilter(IdempotencyKey key, Commands commands) {
        this.endpoint = key.endpoint(commands);
    }

    /**
     * The transaction of the command that this request is handled in: hand its connection to whatever reads and writes for the
     * request, so that all of it commits with the answer.
     *
     * @throws IllegalStateException when there is none: the request carries no key, or is handled without protection
     */
    public static CommandTransaction transaction(ServletRequest request) {
        if (request.getAttribute(IdempotencyKey.TRANSACTION) instanceof CommandTransaction transaction) {
            return transaction;
        }
        throw new IllegalStateException("This request is not handled in the transaction of a command");
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request instanceof HttpServletRequest http
                && response instanceof HttpServletResponse answer
                && http.getDispatcherType() == DispatcherType.REQUEST) {
            filter(http, answer, chain);
        } else {
            chain.doFilter(request, response);
        }
    }

    private void filter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpCall head = head(request);
        if (!endpoint.appliesTo(head)) {
            chain.doFilter(request, response);
            return;
        }
        byte[] body = RequestBody.read(request, endpoint.readLimit());
        ServletRun run = new ServletRun(endpoint, request, response, chain, body);
        HttpAnswer answer;
        try {
            answer = endpoint.answerOnce(
                    head.withBody(body), (call, transaction) -> run.handle(transaction), call -> run.handle(null));
        } catch (IOException | ServletException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new ServletException(e);
        }
        run.send(answer);
    }

    private static HttpCall head(HttpServletRequest request) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        return HttpCall.of(
                request.getMethod(),
                request.getRequestURI(),
                request.getQueryString(),
                headers,
                name(request.getUserPrincipal()));
    }

    private static @Nullable String name(@Nullable Principal principal) {
        return principal == null ? null : principal.getName();
    }
}
