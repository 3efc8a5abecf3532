package dev.postrider.torture.mutant;

import dev.postrider.testkit.database.Engine;
import java.util.List;

/**
 * A fault to be put into Postrider.
 *
 * @param name of its file, without the ending
 * @param title what is different
 * @param wrong why that is a fault
 * @param shows how it would be noticed, and by what
 * @param caughtBy tests that fail with it, by contract or by class: {@code Claiming#lostLeaseCannotAcknowledge}
 * @param engine the database that they are run on
 */
public record Mutant(
        String name, String title, String wrong, String shows, List<String> caughtBy, Engine engine, List<Edit> edits) {

    /**
     * One replacement.
     *
     * @param file its path in the repository
     * @param find what is there exactly once
     * @param put what goes in its place
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
