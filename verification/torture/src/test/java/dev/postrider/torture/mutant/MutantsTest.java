package dev.postrider.torture.mutant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class MutantsTest {

    static final Path REPOSITORY = Path.of("../..");

    static List<Mutant> mutants() {
        return Mutants.in(REPOSITORY).all();
    }

    @TempDir
    Path directory;

    @Test
    void thereAreEnough() {
        assertThat(mutants()).hasSizeGreaterThanOrEqualTo(20);
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void isNotStaleAndNamesATest(Mutant mutant) {
        assertThat(Mutants.in(REPOSITORY).apply(mutant)).isNotEmpty();
        assertThat(mutant.caughtBy()).isNotEmpty();
    }

    @Test
    void engineIsPostgresqlUnlessAnotherIsNamed() {
        List<String> mutant = new ArrayList<>(List.of(change("a", "b")));
        assertThat(MutantFile.read("x", mutant).engine()).isEqualTo(Engine.POSTGRESQL_18);
        mutant.add("engine: mysql");
        assertThat(MutantFile.read("x", mutant).engine()).isEqualTo(Engine.MYSQL_8_0);
        mutant.add("engine: other");
        assertThatThrownBy(() -> MutantFile.read("x", mutant)).hasMessage("x is for an unknown engine: other");
    }

    private Mutants repository(String source, String... mutant) throws IOException {
        Path mutants = Files.createDirectories(directory.resolve("verification/torture/src/main/resources/mutants"));
        Files.write(mutants.resolve("one.mutant"), List.of(mutant));
        Path code = Files.createDirectories(directory.resolve("core/src/main/java/a"));
        Files.writeString(code.resolve("One.java"), source);
        return Mutants.in(directory);
    }

    @Test
    void unknownOneIsAnsweredWithThoseThatThereAre() throws IOException {
        Mutants mutants = repository("package a; class One {}", change("One", "Two"));
        assertThatThrownBy(() -> mutants.get("two")).hasMessage("There is no mutant two; there are one");
    }

    private static String[] change(String find, String put) {
        return new String[] {
            "title: t",
            "wrong: w",
            "shows: s",
            "file: core/src/main/java/a/One.java",
            "--- find",
            find,
            "--- put",
            put,
            "--- end"
        };
    }

    @Test
    void textThatIsNotThereMakesItStale() throws IOException {
        Mutants mutants = repository("package a; class One {}", change("Two", "Three"));
        assertThatThrownBy(() -> mutants.apply(mutants.get("one")))
                .isInstanceOf(BadMutantException.class)
                .hasMessageContaining("one is stale: core/src/main/java/a/One.java has no");
    }

    @Test
    void textThatIsThereTwiceMakesItStale() throws IOException {
        Mutants mutants = repository("package a; class One { One() {} }", change("One", "Two"));
        assertThatThrownBy(() -> mutants.apply(mutants.get("one")))
                .isInstanceOf(BadMutantException.class)
                .hasMessageContaining("has more than one");
    }

    @Test
    void whatDoesNotCompileIsRefused() throws IOException {
        Mutants mutants = repository("package a; class One {}", change("class One", "klass One"));
        assertThatThrownBy(() -> mutants.make(mutants.get("one"), directory.resolve("out"), ""))
                .isInstanceOf(BadMutantException.class)
                .hasMessageContaining("one does not compile");
    }

    @Test
    void neighboursThatHaveAConstantInsideAreCompiledToo() throws Exception {
        Mutants mutants = repository(
                "package a; public class One { static final String TEXT = \"right\"; }", change("right", "wrong"));
        source("Two", "static final String TEXT = One.TEXT + \"!\";");
        source("Three", "public static String text() { return Two.TEXT; }");
        source("Stranger", "int one;");

        Path classes = mutants.make(mutants.get("one"), directory.resolve("out"), "");

        try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null)) {
            assertThat(loader.loadClass("a.Three").getMethod("text").invoke(null))
                    .isEqualTo("wrong!");
        }
        assertThat(classes.resolve("a/Stranger.class")).doesNotExist();
    }

    private void source(String name, String body) throws IOException {
        Files.writeString(
                directory.resolve("core/src/main/java/a/" + name + ".java"),
                "package a; public class " + name + " { " + body + " }");
    }

    @Test
    void fileThatSaysTooLittleIsRefused() {
        assertThatThrownBy(() -> MutantFile.read("x", List.of("title: t")))
                .isInstanceOf(BadMutantException.class)
                .hasMessage("x needs a title, what is wrong with it, how it shows, and a change");
        assertThatThrownBy(() -> MutantFile.read("x", List.of("file: f", "--- find", "a", "--- put", "b")))
                .hasMessage("x has no line --- end");
        assertThatThrownBy(() -> MutantFile.read("x", List.of("nonsense")))
                .hasMessage("x has a line that says nothing: nonsense");
    }
}
