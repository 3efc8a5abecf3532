package dev.postrider.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The configuration properties of one kind of target, each with the action that applies it. A property is accepted if
 * and only if it is in such a group, and {@code docs/configuration.md} lists the same properties.
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

    /** Applies the property and returns true, or returns false if the group does not have it. */
    boolean apply(T target, String name, Value value) {
        BiConsumer<T, Value> setting = settings.get(name);
        if (setting == null) {
            return false;
        }
        value.applying(() -> setting.accept(target, value));
        return true;
    }
}
