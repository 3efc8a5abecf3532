package dev.postrider.torture.mutant;

import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads a mutant:
 *
 * <pre>
 * title: …
 * wrong: …
 * shows: …
 * engine: mariadb
 * caught-by: Suite#test, Suite#test
 * file: core/src/main/java/…
 * --- find
 * whole lines
 * --- put
 * whole lines
 * --- end
 * </pre>
 *
 * <p>There may be several changes, each in the file that was named last. The engine is PostgreSQL if none is named.
 */
final class MutantFile {

    static final String ENDING = ".mutant";

    private static final String FIND = "--- find";
    private static final String PUT = "--- put";
    private static final String END = "--- end";

    private final String name;
    private final List<String> lines;
    private final Map<String, String> values = new HashMap<>();
    private final List<Mutant.Edit> edits = new ArrayList<>();
    private int next;

    private MutantFile(String name, List<String> lines) {
        this.name = name;
        this.lines = lines;
    }

    static Mutant read(Path file) {
        String name = String.valueOf(file.getFileName());
        try {
            return read(name.substring(0, name.length() - ENDING.length()), Files.readAllLines(file));
        } catch (IOException e) {
            throw new BadMutantException("Cannot read " + file, e);
        }
    }

    static Mutant read(String name, List<String> lines) {
        return new MutantFile(name, lines).read();
    }

    private Mutant read() {
        while (next < lines.size()) {
            String line = lines.get(next++);
            int colon = line.indexOf(": ");
            if (line.equals(FIND)) {
                edits.add(edit());
            } else if (colon > 0) {
                values.put(line.substring(0, colon), line.substring(colon + 2).trim());
            } else if (!line.isBlank()) {
                throw new BadMutantException(name + " has a line that says nothing: " + line);
            }
        }
        return new Mutant(name, value("title"), value("wrong"), value("shows"), caughtBy(), engine(), edits);
    }

    private Mutant.Edit edit() {
        if (value("file").isEmpty()) {
            throw new BadMutantException(name + " does not say in which file");
        }
        return new Mutant.Edit(value("file"), block(PUT), block(END));
    }

    private String block(String end) {
        List<String> block = new ArrayList<>();
        while (next < lines.size() && !lines.get(next).equals(end)) {
            block.add(lines.get(next++));
        }
        if (next++ == lines.size()) {
            throw new BadMutantException(name + " has no line " + end);
        }
        return String.join("\n", block);
    }

    private String value(String key) {
        return values.getOrDefault(key, "");
    }

    private List<String> caughtBy() {
        return Arrays.stream(value("caught-by").split(","))
                .map(String::trim)
                .filter(test -> !test.isEmpty())
                .toList();
    }

    private Engine engine() {
        String engine = value("engine");
        return switch (engine) {
            case "", "postgresql" -> Engine.POSTGRESQL_18;
            case "mariadb" -> Engine.MARIADB_11_4;
            case "mysql" -> Engine.MYSQL_8_0;
            default -> throw new BadMutantException(name + " is for an unknown engine: " + engine);
        };
    }
}
