package dev.postrider.admin.rest;

import dev.postrider.internal.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Makes the OpenAPI 3.1 document of the routes. Pure functions. */
final class OpenApi {

    /** The least role of a route; for programs. */
    static final String ROLE = "x-postrider-role";

    /** Whether an operator that is limited to a tenant may use a route; for programs. */
    static final String TENANTS = "x-postrider-tenants";

    private static final Map<String, Object> TEXT = Map.of("type", "string");

    private OpenApi() {}

    static String of(List<Route<?>> routes) {
        Map<String, Object> paths = new LinkedHashMap<>();
        Map<String, Object> schemas = new TreeMap<>();
        for (Route<?> route : routes) {
            @SuppressWarnings("unchecked") // only this method puts values
            Map<String, Object> path =
                    (Map<String, Object>) paths.computeIfAbsent(route.path(), key -> new LinkedHashMap<>());
            path.put(route.isWrite() ? "post" : "get", operation(route));
            Shape<?> answer = route.answer();
            if (answer != null) {
                answer.all().forEach((name, shape) -> schemas.put(name, shape.schema()));
            }
        }
        schemas.put("Problem", Shapes.problemSchema());
        Map<String, Object> document = new LinkedHashMap<>();
        document.put("openapi", "3.1.0");
        document.put(
                "info",
                Map.of(
                        "title", "Postrider admin API",
                        "version", "1",
                        "description", "Operations for topics, messages, inboxes and commands."));
        document.put("servers", List.of(Map.of("url", "..")));
        document.put("security", List.of(Map.of("token", List.of())));
        document.put("paths", paths);
        document.put(
                "components",
                Map.of(
                        "schemas",
                        schemas,
                        "securitySchemes",
                        Map.of("token", Map.of("type", "http", "scheme", "bearer"))));
        return Json.writeTree(document);
    }

    private static Map<String, Object> operation(Route<?> route) {
        Map<String, Object> operation = new LinkedHashMap<>();
        operation.put("summary", route.about().summary());
        operation.put(ROLE, Words.of(route.least()));
        operation.put(TENANTS, route.about().isForTenants());
        operation.put("parameters", parameters(route));
        if (route.isWrite()) {
            FieldType.Members body = new FieldType.Members(route.about().fields());
            boolean isRequired = route.about().fields().stream().anyMatch(Field::isRequired);
            operation.put(
                    "requestBody",
                    Map.of(
                            "required",
                            isRequired,
                            "content",
                            Map.of("application/json", Map.of("schema", body.schema()))));
        }
        Map<String, Object> responses = new LinkedHashMap<>();
        responses.put("200", Map.of("description", "What was asked for, or done", "content", content(route)));
        responses.put(
                "default",
                Map.of(
                        "description",
                        "A problem (RFC 9457)",
                        "content",
                        Map.of(
                                "application/problem+json",
                                Map.of("schema", Map.of("$ref", "#/components/schemas/Problem")))));
        operation.put("responses", responses);
        return operation;
    }

    private static Map<String, Object> content(Route<?> route) {
        Shape<?> answer = route.answer();
        if (answer != null) {
            return Map.of("application/json", Map.of("schema", answer.reference()));
        }
        return route.path().equals(RouteTable.EVENTS)
                ? Map.of("text/event-stream", Map.of("schema", TEXT))
                : Map.of("application/json", Map.of("schema", Map.of("type", "object")));
    }

    private static List<Map<String, Object>> parameters(Route<?> route) {
        List<Map<String, Object>> parameters = new ArrayList<>();
        for (String name : route.pathParameters()) {
            parameters.add(parameter("path", name, schemaOf(name), true));
        }
        if (route.isWrite()) {
            parameters.add(parameter(
                    "header", RequestGuard.WRITE_HEADER, Map.of("type", "string", "enum", List.of("1")), true));
            parameters.add(parameter("header", KeyedWrites.KEY, TEXT, false));
        } else {
            route.about()
                    .fields()
                    .forEach(field ->
                            parameters.add(parameter("query", field.name(), field.schema(), field.isRequired())));
        }
        return parameters;
    }

    private static Map<String, Object> schemaOf(String pathParameter) {
        return switch (pathParameter) {
            case "id" -> CommonFields.ID.schema();
            case "action" -> CommonFields.ACTION.schema();
            case "reference" -> CommonFields.REFERENCE.schema();
            default -> TEXT;
        };
    }

    private static Map<String, Object> parameter(
            String in, String name, Map<String, Object> schema, boolean isRequired) {
        Map<String, Object> parameter = new LinkedHashMap<>();
        parameter.put("name", name);
        parameter.put("in", in);
        parameter.put("required", isRequired);
        parameter.put("schema", schema);
        return parameter;
    }
}
