package dev.postrider.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps retired words out of main code, tests, log lines, schema files, build files and docs. The list is at the end of the glossary. A
 * name is read as the words it is made of: {@code leaseToken} as "lease token".
 */
class GlossaryTest {

    private static final String GLOSSARY = "docs/glossary.md";
    private static final Pattern PARTS_OF_A_NAME = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|_");
    private static final Pattern CODE = Pattern.compile("```.*?```|`[^`\\n]*`", Pattern.DOTALL);

    @Test
    void retiredWordsAppearNeitherInCodeNorInDocs() throws IOException {
        List<String> words = retiredWords();
        Pattern retired = Pattern.compile(
                "(?<!--user=)\\b(" + words.stream().map(Pattern::quote).collect(Collectors.joining("|")) + ")s?\\b",
                Pattern.CASE_INSENSITIVE);

        List<String> found = new ArrayList<>();
        for (Path source : sources()) {
            String text = PARTS_OF_A_NAME.matcher(Files.readString(source)).replaceAll(" ");
            found.addAll(matches(source, text, retired));
        }
        for (Path page : pages()) {
            found.addAll(matches(page, CODE.matcher(Files.readString(page)).replaceAll(GlossaryTest::blank), retired));
        }

        assertThat(words).hasSizeGreaterThan(10);
        assertThat(found).isEmpty();
    }

    private static List<String> retiredWords() throws IOException {
        String text = Files.readString(Document.ROOT.resolve(GLOSSARY));
        String list = text.substring(text.lastIndexOf("\n\n", text.length() - 2));
        return Pattern.compile("`([^`]+)`")
                .matcher(list)
                .results()
                .map(match -> match.group(1))
                .toList();
    }

    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(Document.ROOT)) {
            return files.filter(file -> file.toString().matches(".*/src/(main|test)/.*\\.(java|sql)|.*/pom\\.xml"))
                    .toList();
        }
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> top = Files.list(Document.ROOT);
                Stream<Path> docs = Files.list(Document.ROOT.resolve("docs"))) {
            Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !file.endsWith(Path.of(GLOSSARY)))
                    .forEach(pages::add);
        }
        return pages;
    }

    private static List<String> matches(Path file, String text, Pattern retired) {
        List<String> found = new ArrayList<>();
        Matcher matcher = retired.matcher(text);
        while (matcher.find()) {
            long line = text.substring(0, matcher.start()).lines().count();
            found.add(Document.ROOT.relativize(file) + ":" + line + " " + matcher.group());
        }
        return found;
    }

    /** Keeps the lines, so that their numbers stay right. */
    private static String blank(MatchResult code) {
        return "\n".repeat((int) code.group().chars().filter(c -> c == '\n').count());
    }
}
