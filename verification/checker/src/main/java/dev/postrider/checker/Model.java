package dev.postrider.checker;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The changes of state that the models allow, with their causes. A test compares the list with the result of TLC. Immutable. */
final class Model {

    private static final String FILE = "transitions.txt";
    private static final String BESIDE = "also ";

    private final Map<Step, Set<String>> causes = new LinkedHashMap<>();
    private final Set<Step> modelled = new HashSet<>();

    private Model(List<String> lines) {
        lines.stream().filter(line -> !line.startsWith("#") && !line.isBlank()).forEach(this::add);
    }

    static Model read() {
        try (InputStream in = Model.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new UnreadableEvidenceException("There is no " + FILE + " on the class path");
            }
            return new Model(
                    new BufferedReader(new InputStreamReader(in, UTF_8)).lines().toList());
        } catch (IOException e) {
            throw new UnreadableEvidenceException("Cannot read " + FILE, e);
        }
    }

    private void add(String line) {
        boolean beside = line.startsWith(BESIDE);
        String[] words = (beside ? line.substring(BESIDE.length()) : line).split(" ", 4);
        Step step = new Step(words[0], words[1], words[2]);
        causes.computeIfAbsent(step, any -> new TreeSet<>()).add(words[3]);
        if (!beside) {
            modelled.add(step);
        }
    }

    /** All changes, in the order of the list. */
    Set<Step> steps() {
        return causes.keySet();
    }

    /** Whether the models contain the change. The list also has changes that the code makes and the models leave out. */
    boolean isModelled(Step step) {
        return modelled.contains(step);
    }

    /** The causes of the change; empty if it is not allowed. */
    Set<String> causes(Step step) {
        return causes.getOrDefault(step, Set.of());
    }
}
