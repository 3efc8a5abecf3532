package dev.postrider.checker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The judge has nothing in common with what it judges. */
final class IndependenceTest {

    private static final Pattern OF_POSTRIDER = Pattern.compile("dev[/.]postrider[/.](?!checker[/.;])");

    @Test
    void noClassNamesOneOfPostrider() throws IOException {
        List<String> named = new ArrayList<>();
        List<Path> classes = classes();
        for (Path file : classes) {
            for (String constant : constants(file)) {
                if (OF_POSTRIDER.matcher(constant).find()) {
                    named.add(file.getFileName() + ": " + constant);
                }
            }
        }
        assertThat(classes).hasSizeGreaterThan(30);
        assertThat(named).isEmpty();
    }

    @Test
    void constantsOfAClassAreFound() throws IOException {
        assertThat(classes()).anySatisfy(file -> assertThat(constants(file)).contains("dev/postrider/checker/NoLoss"));
        assertThat(OF_POSTRIDER.matcher("Ldev/postrider/message/Message;").find())
                .isTrue();
        assertThat(OF_POSTRIDER.matcher("Ldev/postrider/checker/Run;").find()).isFalse();
    }

    @Test
    void nothingOfPostriderIsOnTheClassPath() throws IOException {
        List<URL> places =
                Collections.list(IndependenceTest.class.getClassLoader().getResources("dev/postrider"));
        assertThat(places)
                .hasSize(2)
                .allSatisfy(place ->
                        assertThat(place.toString()).matches("file:.*/checker/target/(test-)?classes/dev/postrider/?"));
        assertThatThrownBy(() -> Class.forName("dev.postrider.Postrider")).isInstanceOf(ClassNotFoundException.class);
        assertThat(System.getProperty("java.class.path").split(Pattern.quote(System.getProperty("path.separator"))))
                .noneMatch(entry -> entry.contains("postrider-"));
    }

    @Test
    void onlyDriversAreThereWhenItRuns() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        List<String> atRunTime = new ArrayList<>();
        Matcher dependency = Pattern.compile(
                        "<dependency>\\s*<groupId>(.*?)</groupId>\\s*<artifactId>(.*?)</artifactId>\\s*(?:<scope>(.*?)</scope>)?")
                .matcher(pom);
        while (dependency.find()) {
            String scope = dependency.group(3);
            if (scope == null || scope.equals("runtime") || scope.equals("compile")) {
                atRunTime.add(dependency.group(2));
            }
        }
        assertThat(atRunTime).containsExactly("postgresql", "mariadb-java-client", "mysql-connector-j");
    }

    private static List<Path> classes() throws IOException {
        URL location = Checker.class.getProtectionDomain().getCodeSource().getLocation();
        try (Stream<Path> files = Files.walk(Path.of(URI.create(location.toString())))) {
            return files.filter(file -> file.toString().endsWith(".class")).toList();
        }
    }

    /** The texts in the constant pool of a class file: all names of classes, members and types are among them. */
    private static List<String> constants(Path file) throws IOException {
        List<String> texts = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            in.skipNBytes(8);
            int count = in.readUnsignedShort();
            for (int number = 1; number < count; number++) {
                int tag = in.readUnsignedByte();
                if (tag == 1) {
                    texts.add(in.readUTF());
                } else {
                    in.skipNBytes(sizeOf(tag));
                }
                number += tag == 5 || tag == 6 ? 1 : 0; // long and double take two places
            }
        }
        return texts;
    }

    private static int sizeOf(int tag) {
        return switch (tag) {
            case 7, 8, 16, 19, 20 -> 2;
            case 15 -> 3;
            case 3, 4, 9, 10, 11, 12, 17, 18 -> 4;
            case 5, 6 -> 8;
            default -> throw new IllegalArgumentException("A constant of kind " + tag);
        };
    }
}
