package dev.postrider.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.admin.TopicStatus;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.event.Event;
import dev.postrider.store.DeadReason;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Keeps the documentation true: what it quotes is there, and what is there is listed. */
class DocumentationTest {

    private static final Pattern LINK = Pattern.compile("\\]\\((?!https?://|#)([^)#]+)(?:#[^)]*)?\\)");

    private static final Pattern ANCHOR = Pattern.compile("\\]\\((?!https?://)([^)#]*\\.md|)#([^)]+)\\)");

    /** The name of a test class in code font, with a method or without. */
    private static final Pattern NAMED_TEST = Pattern.compile("`(\\w+(?:Test|Contract))(?:\\.(\\w+))?`");

    @Test
    void javaInTheDocumentationIsCutFromAnExample() throws IOException {
        List<Document.Block> quotations = Document.all().stream()
                .flatMap(document -> document.blocks("java").stream())
                .filter(block -> block.mark().startsWith("from "))
                .toList();
        assertThat(quotations).hasSizeGreaterThan(5);
        for (Document.Block quotation : quotations) {
            Path source = Document.ROOT.resolve(quotation.mark().substring("from ".length()));
            List<String> lines = Document.lines(Files.readString(source));
            assertThat(Collections.indexOfSubList(lines, quotation.lines()))
                    .as("%s is not in %s", quotation, source)
                    .isNotNegative();
        }
    }

    @Test
    void javaInTheReadmeAndTheFirstStepsIsNeverLooseText() throws IOException {
        for (String name : List.of("README.md", "docs/getting-started.md")) {
            assertThat(Document.read(name).blocks("java"))
                    .isNotEmpty()
                    .allSatisfy(block ->
                            assertThat(block.mark()).as(block.toString()).startsWith("from "));
        }
    }

    @Test
    void sqlInTheDocumentationIsTheSqlThatRuns() throws IOException {
        List<Document.Block> statements = new ArrayList<>();
        statements.addAll(Document.read("docs/sql.md").blocks("sql"));
        assertThat(statements).hasSizeGreaterThan(30);
        statements.addAll(Document.read("docs/how-it-works.md").blocks("sql"));
        for (Document.Block statement : statements) {
            assertThat(statement.mark()).as(statement.toString()).startsWith("sql: ");
            String[] name = statement.mark().substring("sql: ".length()).split("\\.");
            assertThat(SqlConstants.flat(statement.code()))
                    .as(statement.mark())
                    .isEqualTo(SqlConstants.of(name[0]).rendered(name[1]));
        }
    }

    @Test
    void everyLogLineIsListedForOperators() throws IOException {
        Path core = Document.ROOT.resolve("core/src/main/java/dev/postrider");
        String lines = "\\b(OUTBOX_WORKER|INBOX|COMMAND|HTTP_IDEMPOTENCY)_[A-Z_]+";
        Set<String> logged = new TreeSet<>();
        for (String writer : List.of("internal/event", "idempotency/http")) {
            try (Stream<Path> files = Files.list(core.resolve(writer))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    logged.addAll(found("(?<=\")" + lines, Files.readString(file)));
                }
            }
        }
        assertThat(found(lines, Document.read("docs/operations.md").text())).isEqualTo(logged);
    }

    @Test
    void everyEventAndEveryReasonIsListedForOperators() throws IOException {
        String operations = Document.read("docs/operations.md").text();
        assertThat(Stream.of(Event.class.getPermittedSubclasses()).map(Class::getSimpleName))
                .allSatisfy(event -> assertThat(operations).contains("`" + event + "`"));
        assertThat(Stream.of(DeadReason.values()).map(DeadReason::name))
                .allSatisfy(reason -> assertThat(operations).contains("`" + reason + "`"));
    }

    @Test
    void typesOfTheFirstStepsAreInThePackagesThatAreNamed() throws IOException, ClassNotFoundException {
        Matcher row = Pattern.compile("\\| `(dev\\.postrider[a-z.]*)` \\| ((?:`[A-Za-z]+`(?:, )?)+) \\|")
                .matcher(Document.read("docs/getting-started.md").text());
        int types = 0;
        while (row.find()) {
            for (String type : found("[A-Za-z]+", row.group(2))) {
                assertThat(Class.forName(row.group(1) + "." + type)).isPublic();
                types++;
            }
        }
        assertThat(types).isGreaterThan(30);
    }

    @Test
    void everyWayAConnectionCanBeUnusableIsExplained() throws IOException {
        String guide = Document.read("docs/getting-started.md").text();
        assertThat(UnusableConnectionException.Problem.values())
                .allSatisfy(problem -> assertThat(guide).contains("`" + problem.name() + "`"));
    }

    @Test
    void pageThatQuotesAFileHasALinkToItForTheImports() throws IOException {
        for (Document document : Document.all()) {
            for (Document.Block block : document.blocks("java")) {
                if (block.mark().startsWith("from ")) {
                    String upwards = "../".repeat(Path.of(document.name()).getNameCount() - 1);
                    String link = upwards + block.mark().substring("from ".length());
                    assertThat(document.text()).as(block.toString()).contains("](" + link + ")");
                }
            }
        }
    }

    @Test
    void everyNumberOfATopicsStatusIsExplained() throws IOException {
        String operations = Document.read("docs/operations.md").text();
        assertThat(Stream.of(TopicStatus.class.getRecordComponents())
                        .filter(component -> component.getType() == long.class)
                        .map(RecordComponent::getName))
                .allSatisfy(number -> assertThat(operations).contains("\n| " + number + " |"));
    }

    @Test
    void everyStateOfAMessageIsInThePictures() throws IOException {
        Set<String> states = found(
                "(?<=state IN \\('|', '|state = ')[A-Z]+(?=')",
                Files.readString(Document.ROOT.resolve(
                        "core/src/main/resources/dev/postrider/schema/postgresql/V001__outbox.sql")));
        String page = Document.read("docs/how-it-works.md").text();
        assertThat(states)
                .contains("PENDING", "PARKED")
                .allSatisfy(state -> assertThat(page).contains(" " + state));
    }

    @Test
    void everyLinkIntoAPageLeadsToAHeading() throws IOException {
        for (Document document : Document.all()) {
            Matcher link = ANCHOR.matcher(document.text());
            while (link.find()) {
                Path target = link.group(1).isEmpty()
                        ? document.file()
                        : document.file().resolveSibling(link.group(1));
                Set<String> headings = Files.readAllLines(target).stream()
                        .filter(line -> line.startsWith("#"))
                        .map(DocumentationTest::anchor)
                        .collect(Collectors.toSet());
                assertThat(headings).as("link in " + document.name()).contains(link.group(2));
            }
        }
    }

    /** As GitHub makes it: lower case, dashes for blanks, nothing but letters, digits, dashes and underscores. */
    private static String anchor(String heading) {
        return heading.replaceFirst("#+ ", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
    }

    @Test
    void everyLinkLeadsToAFile() throws IOException {
        for (Document document : Document.all()) {
            Matcher link = LINK.matcher(document.text());
            while (link.find()) {
                Path target = document.file().resolveSibling(link.group(1));
                assertThat(target).as("link in " + document.name()).exists();
            }
        }
    }

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        Map<String, String> sources = testSources();
        Set<String> missing = new TreeSet<>();
        int named = 0;
        for (Document page : Document.all()) {
            if (page.name().startsWith("docs/decisions/")) {
                continue; // a decision keeps the names of its time
            }
            for (MatchResult name : NAMED_TEST.matcher(page.text()).results().toList()) {
                named++;
                if (!hasTest(sources, name.group(1), name.group(2))) {
                    missing.add(page.name() + " " + name.group());
                }
            }
        }
        assertThat(named).isPositive();
        assertThat(missing).isEmpty();
    }

    /** A test that runs a contract inherits the tests of the contract. */
    private static boolean hasTest(Map<String, String> sources, String type, @Nullable String method) {
        if (method == null) {
            return sources.containsKey(type);
        }
        return Stream.of(type, type.replaceFirst("Test$", "Contract"))
                .anyMatch(source -> sources.getOrDefault(source, "").contains("void " + method + "("));
    }

    /** Tests and contracts by their simple names. */
    private static Map<String, String> testSources() throws IOException {
        Map<String, String> sources = new HashMap<>();
        try (Stream<Path> files = Files.walk(Document.ROOT)) {
            for (Path file : files.filter(file -> file.toString().matches(".*/src/.*(Test|Contract)\\.java"))
                    .toList()) {
                sources.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
            }
        }
        return sources;
    }

    private static Set<String> found(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(result -> result.group())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
