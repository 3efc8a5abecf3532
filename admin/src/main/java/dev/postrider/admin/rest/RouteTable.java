package dev.postrider.admin.rest;

import static dev.postrider.admin.rest.Role.ADMIN;
import static dev.postrider.admin.rest.Role.OPERATOR;
import static dev.postrider.admin.rest.Role.VIEWER;

import dev.postrider.admin.rest.Route.About;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * All routes. A request is answered, and the OpenAPI document is made, from this table only. A new route is a line here and
 * a row in {@code docs/admin-api.md}. Immutable.
 */
final class RouteTable {

    static final String VERSION = "/v1";
    static final String DOCUMENT = VERSION + "/openapi.json";
    static final String EVENTS = VERSION + "/events";

    private final List<Route<?>> routes;

    private RouteTable(List<Route<?>> routes) {
        this.routes = List.copyOf(routes);
    }

    /** A route with the parameters of the requested path. */
    record Match(Route<?> route, Map<String, String> parameters) {}

    static RouteTable of(AdminApiBuilder settings) {
        TopicRoutes topics = new TopicRoutes(settings.admin);
        MessageRoutes messages = new MessageRoutes(settings.admin);
        BlockedKeyRoutes keys = new BlockedKeyRoutes(settings.admin);
        ClusterRoutes cluster = new ClusterRoutes(settings.admin);
        CommandRoutes commands = new CommandRoutes(settings.admin.commands());
        LiveRoutes live = new LiveRoutes(settings.events);
        Shape<Shapes.Done> done = Shapes.DONE;

        List<Route<?>> all = new ArrayList<>();
        all.add(get("/me", everyTenant("Who asks", List.of()), settings::self, Shapes.SELF));
        all.add(get("/topics", shared("The topics with their counts"), topics::list, Page.shape(Shapes.TOPIC)));
        all.add(post("/topics/pause", OPERATOR, shared("Pause a topic", TopicRoutes.CHANGE), topics::pause, done));
        all.add(post("/topics/resume", OPERATOR, shared("Resume a topic", TopicRoutes.CHANGE), topics::resume, done));
        all.add(post("/topics/remove", ADMIN, shared("Remove a topic", TopicRoutes.CHANGE), topics::remove, done));
        all.add(get(
                "/topics/lanes",
                shared("The lanes of an ordered topic", List.of(CommonFields.TOPIC)),
                topics::lanes,
                Page.shape(Shapes.LANE)));
        all.add(get(
                "/messages",
                everyTenant("List messages, without payloads", MessageRoutes.LIST),
                messages::list,
                Page.cutShape(Shapes.MESSAGE)));
        all.add(get(
                "/messages/{id}",
                everyTenant("A message and what it waits for", List.of()),
                messages::find,
                Shapes.DETAIL));
        all.add(post(
                "/messages/actions",
                OPERATOR,
                new About("Change all messages that a filter selects", MessageRoutes.ACTIONS, true, true),
                messages::changeAll,
                Shapes.CHANGE));
        all.add(post(
                "/messages/{id}/{action}",
                OPERATOR,
                everyTenant("Change a message", MessageRoutes.ACTION),
                messages::change,
                done));
        all.add(get(
                "/failures",
                everyTenant("Dead and parked messages by error, topic and type", MessageRoutes.FAILURES),
                messages::failures,
                Shapes.FAILURES));
        all.add(get(
                "/blocked-keys",
                everyTenant("The blocked keys of a topic", BlockedKeyRoutes.LIST),
                keys::list,
                Page.shape(Shapes.BLOCKED_KEY)));
        all.add(post(
                "/blocked-keys/retry",
                OPERATOR,
                everyTenant("Retry the head of a blocked key now", BlockedKeyRoutes.RETRY),
                keys::retry,
                done));
        all.add(post(
                "/blocked-keys/bury",
                OPERATOR,
                everyTenant("Make the head of a blocked key a dead letter", BlockedKeyRoutes.BURY),
                keys::bury,
                done));
        all.add(get("/nodes", shared("The nodes that deliver topics"), cluster::nodes, Page.shape(Shapes.NODE)));
        all.add(get("/inboxes", shared("The consumers"), cluster::inboxes, Page.shape(Shapes.INBOX)));
        all.add(post(
                "/inboxes/retire",
                ADMIN,
                new About("Retire a handler of a consumer", ClusterRoutes.RETIRE, false, true),
                cluster::retire,
                Shapes.RETIRED));
        all.add(get(
                "/commands",
                everyTenant("Uncertain and stuck commands", CommandRoutes.LIST),
                commands::list,
                Page.cutShape(Shapes.COMMAND)));
        all.add(get("/commands/{reference}", everyTenant("A command", List.of()), commands::find, Shapes.COMMAND));
        all.add(post(
                "/commands/{reference}/resolve",
                OPERATOR,
                everyTenant("Resolve an uncertain or stuck command", CommandRoutes.RESOLVE),
                commands::resolve,
                done));
        all.add(get(
                "/audit",
                shared("The changes by operators, the newest first", ClusterRoutes.AUDIT),
                cluster::audit,
                Page.shape(Shapes.AUDIT)));
        all.add(get("/sample", shared("The last sample and the load of this node"), live::sample, Shapes.SAMPLED));
        all.add(get("/health", shared("The health of this node and the database"), live::health, Shapes.HEALTH));
        all.add(get("/events", shared("Server-sent events: sample, health"), live::events, null));
        all.add(get("/openapi.json", everyTenant("This document", List.of()), call -> OpenApi.of(all), null));
        if (settings.readOnly) {
            all.removeIf(Route::isWrite);
        }
        return new RouteTable(all);
    }

    private static <T> Route<T> get(String path, About about, Route.Handler<T> call, @Nullable Shape<T> answer) {
        return new Route<>("GET", VERSION + path, VIEWER, about, call, answer);
    }

    private static <T> Route<T> post(
            String path, Role least, About about, Route.Handler<T> call, @Nullable Shape<T> answer) {
        return new Route<>("POST", VERSION + path, least, about, call, answer);
    }

    /** A route that an operator of one tenant may use too: its handler shows and changes only that tenant. */
    private static About everyTenant(String summary, List<Field<?>> fields) {
        return new About(summary, fields, true, false);
    }

    /** A route about what all tenants share. */
    private static About shared(String summary) {
        return shared(summary, List.of());
    }

    private static About shared(String summary, List<Field<?>> fields) {
        return new About(summary, fields, false, false);
    }

    List<Route<?>> all() {
        return routes;
    }

    /** Finds the route of a path and a method. Of several routes, the one with the fewest parameters counts. */
    Match find(String method, String path) {
        List<Match> ofPath = new ArrayList<>();
        for (Route<?> route : routes) {
            @Nullable Map<String, String> parameters = route.match(path);
            if (parameters != null) {
                ofPath.add(new Match(route, parameters));
            }
        }
        if (ofPath.isEmpty()) {
            throw ProblemType.NO_ROUTE
                    .because("The document of all routes is at " + DOCUMENT)
                    .refusal();
        }
        return ofPath.stream()
                .filter(match -> match.route().method().equals(method))
                .min(Comparator.comparing(match -> match.parameters().size()))
                .orElseThrow(() -> otherMethods(ofPath));
    }

    private static Refusal otherMethods(List<Match> ofPath) {
        Set<String> methods = new TreeSet<>();
        ofPath.forEach(match -> methods.add(match.route().method()));
        if (methods.contains("GET")) {
            methods.add("HEAD");
        }
        String allowed = String.join(", ", methods);
        return ProblemType.METHOD_NOT_ALLOWED.because("Allowed: " + allowed).refusal("Allow", allowed);
    }
}
