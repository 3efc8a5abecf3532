package dev.postrider.torture.mutant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The classes that may contain an inlined constant of a changed class, such as a statement, and must be compiled with it. These are
 * the classes of its package that name it, and the classes that name one of these if that one passes the constant on, in a constant
 * of its own or to a subclass.
 */
final class Neighbours {

    private static final String JAVA = ".java";
    private static final String PASSES_ON = "(static final \\w+ \\w+\\s*=[^;]*|extends )\\b%s\\b";

    private final Map<Path, String> others = new LinkedHashMap<>();
    private final Set<Path> found = new LinkedHashSet<>();

    private Neighbours() {}

    /** @param changed the changed sources; they are not part of the result */
    static List<Path> of(Set<Path> changed) throws IOException {
        Neighbours neighbours = new Neighbours();
        for (Path source : changed) {
            neighbours.read(source.resolveSibling(""), changed);
        }
        changed.forEach(neighbours::find);
        return List.copyOf(neighbours.found);
    }

    private void read(Path place, Set<Path> changed) throws IOException {
        try (Stream<Path> files = Files.list(place)) {
            for (Path file :
                    files.filter(each -> each.toString().endsWith(JAVA)).toList()) {
                if (!changed.contains(file)) {
                    others.put(file, Files.readString(file));
                }
            }
        }
    }

    private void find(Path source) {
        String name = String.valueOf(source.getFileName()).replace(JAVA, "");
        Pattern names = Pattern.compile("\\b" + name + "\\b");
        Pattern passesOn = Pattern.compile(PASSES_ON.formatted(name));
        others.forEach((other, text) -> {
            if (names.matcher(text).find()) {
                boolean isNew = found.add(other);
                if (isNew && passesOn.matcher(text).find()) {
                    find(other);
                }
            }
        });
    }
}
