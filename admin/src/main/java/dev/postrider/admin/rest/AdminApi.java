package dev.postrider.admin.rest;

import dev.postrider.admin.Admin;
import dev.postrider.admin.rest.Route.Call;
import dev.postrider.internal.Json;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The operators' interface over HTTP, independent of the server:
 *
 * <pre>{@code
 * AdminApi api = AdminApi.on(postrider.admin())
 *         .authenticator(BearerTokens.none().with(token, Operator.of("ann", Role.OPERATOR)))
 *         .idempotency(postrider.commands())
 *         .build();
 * httpServer.createContext("/admin", new AdminHttpHandler(api));
 * }</pre>
 *
 * {@link AdminHttpHandler} connects it to the JDK's HTTP server, {@link AdminServlet} to a servlet container. Its routes
 * begin with {@code /v1}, below any prefix; {@code docs/admin-api.md} lists them. Thread-safe.
 */
public final class AdminApi {

    /** No script, no frame, no cache, no guess about the type, and nothing for other origins. */
    private static final Map<String, String> EVERY_RESPONSE = Map.of(
            "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox",
            "Cache-Control", "no-store",
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY",
            "Referrer-Policy", "no-referrer",
            "Cross-Origin-Resource-Policy", "same-origin");

    private final AdminApiBuilder settings;
    private final RouteTable routes;
    private final @Nullable KeyedWrites keyed;

    AdminApi(AdminApiBuilder settings) {
        this.settings = settings;
        this.routes = RouteTable.of(settings);
        this.keyed = settings.commands == null ? null : new KeyedWrites(settings.commands);
    }

    /** Starts the configuration of an API: {@code AdminApi.on(postrider.admin())}. */
    public static AdminApiBuilder on(Admin admin) {
        return new AdminApiBuilder(admin);
    }

    /**
     * Answers a request. Every error is a response.
     *
     * @throws IOException when the body cannot be read: the client is gone
     */
    public AdminResponse handle(AdminRequest request) throws IOException {
        AdminResponse response;
        try {
            response = answer(request);
        } catch (RuntimeException e) {
            response = Failures.response(e);
            if (!response.headers().containsKey("Connection")) {
                RequestGuard.dropBody(request);
            }
        }
        Map<String, String> headers = new LinkedHashMap<>(response.headers());
        headers.putAll(EVERY_RESPONSE);
        return new AdminResponse(response.status(), headers, response.body(), response.stream());
    }

    /** The operator is known before the path is: a stranger learns nothing about the routes. */
    private AdminResponse answer(AdminRequest request) throws IOException {
        RequestGuard.checkFraming(request);
        Operator operator = operator(request);
        RequestGuard.checkSite(request);
        boolean isHead = request.method().equals("HEAD");
        RouteTable.Match match = routes.find(isHead ? "GET" : request.method(), request.path());
        Route<?> route = match.route();
        if (!operator.role().includes(route.least())) {
            throw ProblemType.FORBIDDEN
                    .because("The route needs the role " + Words.of(route.least()) + ", the operator has "
                            + Words.of(operator.role()))
                    .refusal();
        }
        if (operator.tenant() != null && !route.about().isForTenants()) {
            throw Tenants.refusal();
        }
        return route.isWrite() ? write(request, operator, match) : read(request, operator, match);
    }

    private Operator operator(AdminRequest request) {
        Authenticator authenticator = settings.authenticator;
        if (authenticator == null) {
            RequestGuard.checkLocal(request);
            return settings.local;
        }
        Optional<Operator> found = authenticator.authenticate(request);
        if (found.isEmpty()) {
            throw ProblemType.UNAUTHENTICATED
                    .because("Send a token that this server knows: Authorization: Bearer <token>")
                    .refusal("WWW-Authenticate", "Bearer realm=\"postrider\"");
        }
        return found.get();
    }

    private AdminResponse read(AdminRequest request, Operator operator, RouteTable.Match match) {
        Route<?> route = match.route();
        boolean isStream = route.path().equals(RouteTable.EVENTS);
        RequestGuard.checkAccepted(request, isStream);
        RequestGuard.checkNoBody(request);
        Input input = Input.ofQuery(request.query(), route.about().fields());
        if (isStream && request.method().equals("HEAD")) {
            return new AdminResponse(200, Map.of("Content-Type", "text/event-stream"), "", null);
        }
        return answer(route, new Call(operator, match.parameters(), input));
    }

    private AdminResponse write(AdminRequest request, Operator operator, RouteTable.Match match) throws IOException {
        Route<?> route = match.route();
        RequestGuard.checkWrite(request);
        RequestGuard.checkAccepted(request, false);
        if (request.query() != null && !request.query().isEmpty()) {
            throw ProblemType.BAD_INPUT
                    .because("A POST has its parameters in its body, not in a query")
                    .refusal();
        }
        String body = RequestGuard.body(request);
        Input input = Input.ofMembers(document(body), route.about().fields());
        Call call = new Call(operator, match.parameters(), input);
        boolean hasKey = !request.lines(KeyedWrites.KEY).isEmpty();
        if (!hasKey || input.get(MessageRoutes.DRY_RUN, false)) {
            return answer(route, call);
        }
        KeyedWrites writes = keyed;
        if (writes == null) {
            throw ProblemType.IDEMPOTENCY_UNSUPPORTED
                    .because("Leave Idempotency-Key out, or build the API with idempotency(postrider.commands())")
                    .refusal();
        }
        return writes.answer(
                request,
                body,
                operator,
                new KeyedWrites.Change(() -> answer(route, call), route.about().isInSteps()));
    }

    private static Map<String, @Nullable Object> document(String body) {
        try {
            return body.isEmpty() ? Map.of() : Json.readDocument(body);
        } catch (IllegalArgumentException e) {
            throw ProblemType.BAD_INPUT.because("The body is " + e.getMessage()).refusal();
        }
    }

    private <T> AdminResponse answer(Route<T> route, Call call) {
        T value = route.call().answer(call);
        if (value instanceof EventStream stream) {
            return new AdminResponse(200, Map.of("Content-Type", "text/event-stream"), "", stream);
        }
        Shape<T> shape = route.answer();
        String json = shape == null
                ? String.valueOf(value)
                : Json.writeTree(shape.write(value, settings.view(call.operator())));
        return new AdminResponse(200, Map.of("Content-Type", "application/json"), JsonText.of(json), null);
    }
}
