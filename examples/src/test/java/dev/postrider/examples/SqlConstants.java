package dev.postrider.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The statements of one class, read from its source: text blocks, literals and names of constants, joined with plus. */
final class SqlConstants {

    private static final Pattern CONSTANT = Pattern.compile(
            "(?:private )?static final String (\\w+) =((?:\\s*\\+?\\s*(?:\"\"\".*?\"\"\"|\"[^\"\\n]*\"|[A-Z_]+))+);",
            Pattern.DOTALL);
    private static final Pattern PART = Pattern.compile("\"\"\"(.*?)\"\"\"|\"([^\"\\n]*)\"|([A-Z_]+)", Pattern.DOTALL);

    /** The first one is that of PostgreSQL. */
    private static final Pattern PAYLOAD_SIZE =
            Pattern.compile("String payloadSize\\(\\) \\{\\s+return \"\"\"(.*?)\"\"\"", Pattern.DOTALL);

    private final Map<String, String> statements = new HashMap<>();
    private final String payloadSize;

    /** @param className in the room of the database, such as {@code PostgresClaims} */
    static SqlConstants of(String className) throws IOException {
        Path room = Document.ROOT.resolve("core/src/main/java/dev/postrider/jdbc");
        try (Stream<Path> files = Files.walk(room)) {
            Path source = files.filter(file -> file.endsWith(className + ".java"))
                    .findFirst()
                    .orElseThrow();
            Matcher size = PAYLOAD_SIZE.matcher(Files.readString(room.resolve("sql/DatabaseKind.java")));
            if (!size.find()) {
                throw new IllegalStateException("DatabaseKind has no payloadSize()");
            }
            return new SqlConstants(Files.readString(source), size.group(1));
        }
    }

    private SqlConstants(String source, String payloadSize) {
        this.payloadSize = payloadSize;
        Matcher constant = CONSTANT.matcher(source);
        while (constant.find()) {
            statements.put(constant.group(1), evaluate(constant.group(2)));
        }
    }

    private String evaluate(String expression) {
        StringBuilder value = new StringBuilder();
        Matcher part = PART.matcher(expression);
        while (part.find()) {
            if (part.group(1) != null) {
                value.append(part.group(1));
            } else if (part.group(2) != null) {
                value.append(part.group(2));
            } else {
                value.append(statements.get(part.group(3)));
            }
            value.append(' ');
        }
        return value.toString();
    }

    /**
     * With the default table names and PostgreSQL's clock in it, every run of white space one blank. The parts that a filter adds to a
     * statement keep their names in braces.
     */
    String rendered(String constant) {
        return flat(String.valueOf(statements.get(constant))
                .replace("{now}", "clock_timestamp()")
                .replace("{by key}", "")
                .replace("{payload size}", payloadSize)
                .replace("{values}", "?")
                .replaceAll("\\{delete ([a-z_]+)}", "DELETE FROM postrider_$1")
                .replaceAll("\\{(?!(?:access|after|direction|hint|matches|until)})([a-z_]+)}", "postrider_$1"));
    }

    static String flat(String sql) {
        return sql.replaceAll("\\s+", " ").strip();
    }
}
