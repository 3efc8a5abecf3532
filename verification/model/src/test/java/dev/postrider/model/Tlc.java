package dev.postrider.model;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import tlc2.TLC;

/**
 * Runs TLC. In a process of its own each time: it keeps what it knows of a model in static fields, and ends the process when it
 * pleases. One thread for each run, so that what is found first is the same every time; two runs at once are the tests' business.
 */
final class Tlc {

    private static final Path RUNS = Path.of("target", "tlc");
    private static final long LONGEST_MINUTES = 15;

    private static final Map<Slice, Finding> PROPER = new ConcurrentHashMap<>();

    private Tlc() {}

    /** The whole of the proper model. TLC checks it once for all tests. */
    static Finding check(Slice slice) {
        return PROPER.computeIfAbsent(slice, asked -> run(asked, asked.name(), asked.proper()));
    }

    /** Whether a bug violates a property; or, without a bug, whether the protocol itself does. */
    static Finding look(Slice slice, String bug, String property) {
        String name = slice.name() + "-" + (bug.isEmpty() ? "as it is" : bug);
        return run(slice, name.replace(' ', '-'), slice.with(bug, property), property);
    }

    private static Finding run(Slice slice, String name, String configuration, String... temporal) {
        try {
            Path directory = Files.createDirectories(RUNS.resolve(name)).toAbsolutePath();
            Files.copy(
                    slice.module(),
                    directory.resolve(slice.module().getFileName()),
                    StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(directory.resolve(slice.model() + ".cfg"), configuration);
            Path output = directory.resolve("output.txt");
            long begun = System.nanoTime();
            int exit = run(command(slice, directory), directory, output);
            double seconds = (System.nanoTime() - begun) / 1e9;
            String said = Files.readString(output, StandardCharsets.UTF_8);
            Finding finding = Finding.of(exit, said, temporal.length == 0 ? "" : temporal[0], seconds, output);
            report(name, finding);
            return finding;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Quick to start rather than quick to run: most runs are over before a better compiler has paid for itself. */
    private static List<String> command(Slice slice, Path directory) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Duser.language=en",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                tools().toString(),
                TLC.class.getName(),
                "-workers",
                "1",
                "-metadir",
                directory.resolve("states").toString(),
                slice.model());
    }

    private static Path tools() {
        try {
            return Path.of(TLC.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int run(List<String> command, Path directory, Path output) throws IOException {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            if (!process.waitFor(LONGEST_MINUTES, TimeUnit.MINUTES)) {
                throw new IllegalStateException("TLC took longer than " + LONGEST_MINUTES + " minutes: " + command);
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
    }

    private static void report(String name, Finding finding) {
        String what = finding.violated() == null
                ? finding.isComplete() ? "holds" : "was not checked"
                : "violates " + finding.violated();
        System.out.printf(
                Locale.ROOT,
                "model %-70s %-28s %,9d states %6.1f s%n",
                name,
                what,
                finding.distinct(),
                finding.seconds());
    }
}
