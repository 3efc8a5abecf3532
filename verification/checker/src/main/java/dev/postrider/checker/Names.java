package dev.postrider.checker;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers for repeated texts: topics, workers, keys. */
final class Names {

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>();

    int of(String name) {
        Integer known = numbers.get(name);
        if (known != null) {
            return known;
        }
        numbers.put(name, names.size());
        names.add(name);
        return names.size() - 1;
    }

    String get(int number) {
        return names.get(number);
    }

    int size() {
        return names.size();
    }
}
