package dev.postrider.admin.rest;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An error as the client gets it, by RFC 9457. Immutable.
 *
 * @param field the parameter or member that is wrong; null if it is none
 * @param result the result of an action that changed nothing; null for all other problems
 */
record Problem(
        ProblemType type,
        String detail,
        @Nullable String field,
        @Nullable String result) {

    private static final String TYPE = "urn:postrider:problem:";

    static Problem ofField(String field, String problem) {
        return new Problem(ProblemType.BAD_INPUT, field + " " + problem, field, null);
    }

    Refusal refusal() {
        return new Refusal(this, Map.of());
    }

    Refusal refusal(String header, String value) {
        return new Refusal(this, Map.of(header, value));
    }

    Map<String, @Nullable Object> members() {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("type", TYPE + type.code());
        members.put("title", type.title());
        members.put("status", type.status());
        members.put("detail", detail);
        members.put("code", type.code());
        if (field != null) {
            members.put("field", field);
        }
        if (result != null) {
            members.put("result", result);
        }
        return members;
    }
}
