package dev.postrider.admin.rest;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A parameter of a query or a path, or a member of a body. Immutable.
 *
 * @param about a sentence for the OpenAPI document
 * @param <T> the value as the handlers get it
 */
record Field<T>(String name, FieldType<T> type, boolean isRequired, String about) {

    static <T> Field<T> optional(String name, FieldType<T> type, String about) {
        return new Field<>(name, type, false, about);
    }

    static <T> Field<T> required(String name, FieldType<T> type, String about) {
        return new Field<>(name, type, true, about);
    }

    Map<String, Object> schema() {
        Map<String, Object> schema = new LinkedHashMap<>(type.schema());
        schema.put("description", about);
        return schema;
    }
}
