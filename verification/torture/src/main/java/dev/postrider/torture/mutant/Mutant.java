package dev.postrider.torture.mutant;

import dev.postrider.testkit.database.Engine;
import java.util.List;

/**
 * A fault to be put into Postrider.
 *
 * @param name the name of its file, without the extension
 * @param title the change
 * @param wrong why the change is a fault
 * @param shows how the fault becomes visible, and in which check
 * @param caughtBy tests that fail with it, by contract or by class: {@code Claiming#lostLeaseCannotAcknowledge}
 * @param engine the database on which these tests run
 */
public record Mutant(
        String name, String title, String wrong, String shows, List<String> caughtBy, Engine engine, List<Edit> edits) {

    /**
     * One replacement.
     *
     * @param file the path in the repository
     * @param find the text to replace; it occurs exactly once
     * @param put the replacement
     */
    public record Edit(String file, String find, String put) {

        boolean isJava() {
            return file.endsWith(".java");
        }
    }

    public Mutant {
        caughtBy = List.copyOf(caughtBy);
        edits = List.copyOf(edits);
        if (title.isEmpty() || wrong.isEmpty() || shows.isEmpty() || edits.isEmpty()) {
            throw new BadMutantException(name + " needs a title, what is wrong with it, how it shows, and a change");
        }
    }
}
