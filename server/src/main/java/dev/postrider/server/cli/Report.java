package dev.postrider.server.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints results in the form that the user chose. Not thread-safe. */
final class Report {

    /** The forms of a result. */
    enum Format {
        table,
        json,
        ndjson
    }

    private static final int WIDEST_CELL = 40;
    private static final int WIDEST_LAST_CELL = 120;
    private static final String GAP = "  ";

    private final Format format;
    private final PrintWriter out;
    private final Terminal terminal;

    Report(Format format, PrintWriter out, Terminal terminal) {
        this.format = format;
        this.out = out;
        this.terminal = terminal;
    }

    boolean isTable() {
        return format == Format.table;
    }

    /** Prints a line for people; nothing in JSON. */
    void say(String line) {
        if (isTable()) {
            out.println(line);
        }
    }

    /** As {@link #list(Columns, List, Map, String)}, for a list without a continuation. */
    <T> void list(Columns<T> columns, List<T> entries, String none) {
        list(columns, entries, Map.of(), none);
    }

    /**
     * Prints a list.
     *
     * @param more the members of the JSON object beside {@code items}
     * @param none what people read in place of an empty table
     */
    <T> void list(Columns<T> columns, List<T> entries, Map<String, ?> more, String none) {
        switch (format) {
            case json -> {
                Map<String, @Nullable Object> object = new LinkedHashMap<>();
                object.put("items", entries.stream().map(columns::members).toList());
                object.putAll(more);
                out.println(JsonText.of(object));
            }
            case ndjson -> entries.forEach(entry -> out.println(JsonText.of(columns.members(entry))));
            case table -> {
                if (entries.isEmpty()) {
                    out.println(none);
                } else {
                    table(columns, entries).forEach(out::println);
                }
            }
        }
    }

    /** Prints entries as they come: rows without headings, or an object on each line. */
    <T> void follow(Columns<T> columns, T entry) {
        out.println(isTable() ? String.join(GAP, cut(columns.cells(entry))) : JsonText.of(columns.members(entry)));
        out.flush();
    }

    /** Prints one object: a line for each member that people read. */
    <T> void details(Columns<T> columns, T entry) {
        if (!isTable()) {
            out.println(JsonText.of(columns.members(entry)));
            return;
        }
        List<String> headings = columns.headings();
        List<String> cells = columns.cells(entry);
        int width = headings.stream().mapToInt(String::length).max().orElse(0);
        for (int i = 0; i < headings.size(); i++) {
            if (!cells.get(i).equals("-")) {
                out.println(padded(headings.get(i), width) + GAP + cells.get(i));
            }
        }
    }

    /** Prints a result: a sentence for people, an object for programs. */
    void result(String sentence, Map<String, ?> members) {
        out.println(isTable() ? sentence : JsonText.of(members));
    }

    private <T> List<String> table(Columns<T> columns, List<T> entries) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(columns.headings());
        entries.forEach(entry -> rows.add(cut(columns.cells(entry))));
        int last = columns.headings().size() - 1;
        int[] widths = new int[last + 1];
        for (List<String> row : rows) {
            for (int i = 0; i <= last; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < last; i++) {
                line.append(coloured(row.get(i), padded(row.get(i), widths[i]))).append(GAP);
            }
            lines.add(line.append(coloured(row.get(last), row.get(last))).toString());
        }
        return lines;
    }

    private static List<String> cut(List<String> cells) {
        List<String> cut = new ArrayList<>();
        for (int i = 0; i < cells.size(); i++) {
            cut.add(cut(cells.get(i), i == cells.size() - 1 ? WIDEST_LAST_CELL : WIDEST_CELL));
        }
        return cut;
    }

    private static String cut(String text, int widest) {
        return width(text) <= widest ? text : text.substring(0, text.offsetByCodePoints(0, widest - 1)) + "…";
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - width(text)));
    }

    private static int width(String text) {
        return text.codePointCount(0, text.length());
    }

    private String coloured(String word, String text) {
        return terminal.colours() ? Colour.of(word).around(text) : text;
    }

    /** The colours of the words that ask for attention. */
    private enum Colour {
        RED("\u001b[31m"),
        YELLOW("\u001b[33m"),
        GREEN("\u001b[32m"),
        NONE("");

        private final String begin;

        Colour(String begin) {
            this.begin = begin;
        }

        static Colour of(String word) {
            return switch (word) {
                case "dead", "error", "no-node", "uncertain" -> RED;
                case "warn", "parked", "blocked", "retrying", "paused", "stuck" -> YELLOW;
                case "ok" -> GREEN;
                default -> NONE;
            };
        }

        String around(String text) {
            return this == NONE ? text : begin + text + "\u001b[0m";
        }
    }
}
