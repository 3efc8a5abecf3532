package dev.postrider.servlet;

import dev.postrider.idempotency.CommandTransaction;
import dev.postrider.idempotency.Commands;
import dev.postrider.idempotency.http.IdempotencyKey;
import dev.postrider.idempotency.http.KeyedEndpoint;
import dev.postrider.idempotency.http.KeyedRequest;
import dev.postrider.idempotency.http.KeyedResponse;
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
 * A filter that applies the {@code Idempotency-Key} header to one operation. Map the filter to that operation. Place it
 * behind the filters that authenticate and authorise, so that they also run before a replay; the default caller is the
 * user principal of the request, unless the {@link IdempotencyKey} sets another. Place it in front of every component
 * that reads bodies or parameters, and behind compression.
 *
 * <p>{@link #transaction(ServletRequest)} returns the transaction of the command. It takes a connection when it is
 * first used, so the components behind the filter can use their own connections without occupying two. Writes in this
 * transaction commit together with the response. Other effects do not, and happen again if this process dies before the
 * commit. Read {@code docs/http-idempotency.md} before you use the filter with transactions of your own.
 *
 * <p>The response is sent after its record is committed. Requests with a key cannot be asynchronous or multipart: both
 * are refused with a message. An error page that the container makes for {@code sendError} is not part of the stored
 * response; a retry gets its status. Thread-safe.
 */
public final class IdempotencyKeyFilter implements Filter {

    private final KeyedEndpoint endpoint;

    public IdempotencyKeyFilter(IdempotencyKey key, Commands commands) {
        this.endpoint = key.endpoint(commands);
    }

    /**
     * The transaction of the command for this request. Use its connection for all reads and writes of the request, so
     * that they commit together with the response.
     *
     * @throws IllegalStateException when there is no transaction: the request has no key, or is handled without
     *     protection
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
        KeyedRequest head = head(request);
        if (!endpoint.appliesTo(head)) {
            chain.doFilter(request, response);
            return;
        }
        byte[] body = RequestBody.read(request, endpoint);
        ServletRun run = new ServletRun(endpoint, request, response, chain, body);
        KeyedResponse answer;
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

    private static KeyedRequest head(HttpServletRequest request) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        return KeyedRequest.of(
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
