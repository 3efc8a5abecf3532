package dev.postrider.admin.rest;

import dev.postrider.admin.Change;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A route of the API: a line of {@link RouteTable}. Immutable.
 *
 * @param method GET for what reads, POST for what changes
 * @param path with the names of path parameters in braces
 * @param least the least role that may use it
 * @param about what it does and takes, for the document too
 * @param call what it does
 * @param answer the shape of its answer; null for a stream
 */
record Route<T>(
        String method,
        String path,
        Role least,
        About about,
        Handler<T> call,
        @Nullable Shape<T> answer) {

    /**
     * What a route does and takes.
     *
     * @param summary a sentence
     * @param fields parameters of the query of a GET, members of the body of a POST
     * @param isForTenants whether an operator that is limited to a tenant may use it
     * @param isInSteps whether it changes something in several transactions, of which some can fail
     */
    record About(String summary, List<Field<?>> fields, boolean isForTenants, boolean isInSteps) {

        About {
            fields = List.copyOf(fields);
        }
    }

    /** Answers a request that was checked. */
    @FunctionalInterface
    interface Handler<T> {

        /** @throws Refusal when nothing was changed */
        T answer(Call call);
    }

    /**
     * A request that was checked.
     *
     * @param parameters the parameters of the path
     */
    record Call(Operator operator, Map<String, String> parameters, Input input) {

        <V> V parameter(Field<V> field) {
            return field.type().read(field.name(), parameters.getOrDefault(field.name(), ""));
        }

        /** Returns the operator with the reason, for the audit. */
        Change change() {
            Change change = Change.by(operator.name());
            @Nullable String reason = input.get(CommonFields.REASON);
            return reason == null ? change : Checked.field(CommonFields.REASON, () -> change.reason(reason));
        }
    }

    boolean isWrite() {
        return !method.equals("GET");
    }

    /** Returns the parameters of the path; null if it is another path. */
    @Nullable
    Map<String, String> match(String requested) {
        String[] expected = path.split("/", -1);
        String[] given = requested.split("/", -1);
        if (expected.length != given.length) {
            return null;
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        for (int i = 0; i < expected.length; i++) {
            if (isParameter(expected[i]) && !given[i].isEmpty()) {
                parameters.put(expected[i].substring(1, expected[i].length() - 1), given[i]);
            } else if (!expected[i].equals(given[i])) {
                return null;
            }
        }
        return parameters;
    }

    private static boolean isParameter(String segment) {
        return segment.startsWith("{");
    }

    /** Returns the names of the parameters of the path. */
    List<String> pathParameters() {
        List<String> names = new ArrayList<>();
        for (String segment : path.split("/", -1)) {
            if (isParameter(segment)) {
                names.add(segment.substring(1, segment.length() - 1));
            }
        }
        return names;
    }
}
