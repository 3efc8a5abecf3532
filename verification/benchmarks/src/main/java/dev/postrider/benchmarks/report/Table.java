package dev.postrider.benchmarks.report;

import java.util.List;

/** A table with a heading and a sentence; without rows there is only the sentence. */
public record Table(String title, String sentence, List<String> columns, List<List<String>> rows) {

    public Table {
        columns = List.copyOf(columns);
        rows = List.copyOf(rows);
    }
}
