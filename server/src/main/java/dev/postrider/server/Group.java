package dev.postrider.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The properties that set up one kind of thing, each with what it does to it. A property is accepted if and only if it stands in
 * such a group, and {@code docs/configuration.md} lists the same.
 */
final class Group<T> {

    private final Map<String, BiConsumer<T, Value>> settings = new LinkedHashMap<>();

    Group<T> with(String name, BiConsumer<T, Value> setting) {
        settings.put(name, setting);
        return this;
    }

    Set<String> names() {
        return settings.keySet();
    }

    /** Whether the group has such a property; if so, it was applied. */
    boolean apply(T target, String name, Value value) {
        BiConsumer<T, Value> setting = settings.get(name);
        if (setting == null) {
            return false;
        }
        value.applying(() -> setting.accept(target, value));
        return true;
    }
}
