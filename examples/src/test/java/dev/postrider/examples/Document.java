package dev.postrider.examples;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the documentation, and the blocks of code in it. */
record Document(Path file, String text) {

    /** The tests run in the module's folder. */
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern BLOCK = Pattern.compile("(?m)(?:^<!-- (.+) -->\\R)?^```(\\w+)\\R((?:.*\\R)*?)^```$");

    /** @param mark the comment on the line before it, empty if there is none */
    record Block(Document in, String mark, String language, String code) {

        /** Lines without their indentation and without blank ones. */
        List<String> lines() {
            return Document.lines(code);
        }

        @Override
        public String toString() {
            return in.name() + ": " + code.lines().findFirst().orElse("");
        }
    }

    static Document read(String name) throws IOException {
        return new Document(ROOT.resolve(name), Files.readString(ROOT.resolve(name)));
    }

    /** The README, the other pages beside it, and everything in docs. */
    static List<Document> all() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            Stream.concat(top, docs)
                    .filter(file -> file.toString().endsWith(".md"))
                    .forEach(files::add);
        }
        List<Document> documents = new ArrayList<>();
        for (Path file : files) {
            documents.add(new Document(file, Files.readString(file)));
        }
        return documents;
    }

    String name() {
        return ROOT.relativize(file).toString();
    }

    List<Block> blocks(String language) {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            String mark = matcher.group(1) == null ? "" : matcher.group(1);
            if (matcher.group(2).equals(language)) {
                blocks.add(new Block(this, mark, language, matcher.group(3)));
            }
        }
        return blocks;
    }

    static List<String> lines(String code) {
        return code.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }
}
