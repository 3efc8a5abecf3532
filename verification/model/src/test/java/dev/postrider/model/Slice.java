package dev.postrider.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A model with one configuration of it: how many of everything, and what may go wrong. Named {@code Model-what}. */
record Slice(String name) {

    static final Path MODELS = Path.of("src", "main", "tla");

    /** What is asked of steps, and not of states. */
    private static final Set<String> OF_STEPS = Set.of("Legal", "AcceptedInOrder");

    String model() {
        return name.substring(0, name.indexOf('-'));
    }

    Path module() {
        return MODELS.resolve(model() + ".tla");
    }

    /** As it is: the protocol without a fault of ours. */
    String proper() {
        return String.join("\n", lines());
    }

    /** The same with something wrong on purpose, and with nothing asked but whether this one property holds. */
    String with(String bug, String property) {
        String kind = OF_STEPS.contains(property) || isLive() ? "PROPERTY " : "INVARIANT ";
        return lines().stream()
                .filter(line -> !line.startsWith("INVARIANT")
                        && !line.startsWith("PROPERTY")
                        && !line.startsWith("ACTION_CONSTRAINT"))
                .map(line -> line.replace("Bugs = {}", bug.isEmpty() ? "Bugs = {}" : "Bugs = {\"" + bug + "\"}"))
                .collect(Collectors.joining("\n", "", "\n" + kind + property));
    }

    /** Whether it is asked what happens in the end, rather than what never happens. */
    boolean isLive() {
        return lines().contains("SPECIFICATION FairSpec");
    }

    private List<String> lines() {
        try {
            return Files.readAllLines(MODELS.resolve(name + ".cfg"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
