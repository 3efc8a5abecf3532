package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the checker on the evidence. The checker is a separate program and shares no code with this one. */
final class Judgement {

    private static final String CHECKER = "dev.postrider.checker.Checker";

    private Judgement() {}

    /** The checker's exit status; null if there is no checker on the class path. */
    static @Nullable Integer of(Path directory, Database database) throws InterruptedException {
        if (!isThere()) {
            System.err.println("There is no " + CHECKER + " on the class path: this run was not judged");
            return null;
        }
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-cp",
                Child.classPath(null),
                CHECKER,
                directory.toString(),
                database.jdbcUrl(),
                database.user(),
                database.password());
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static boolean isThere() {
        String resource = CHECKER.replace('.', '/') + ".class";
        return Judgement.class.getClassLoader().getResource(resource) != null;
    }
}
