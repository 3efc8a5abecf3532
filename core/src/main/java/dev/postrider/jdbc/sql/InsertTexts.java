package dev.postrider.jdbc.sql;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Builds the text of an INSERT with a number of rows. Thread-safe. */
public final class InsertTexts {

    /** A text is cached up to this number of rows, and for a full statement, because these sizes repeat. */
    private static final int KEPT_ROWS = 16;

    private record Rows(String insert, int count) {}

    private final SqlRunner sql;
    private final Map<Rows, String> texts = new ConcurrentHashMap<>();

    public InsertTexts(SqlRunner sql) {
        this.sql = sql;
    }

    /** Returns the INSERT for this number of rows. */
    public String withRows(String insert, String row, int count) {
        return count <= KEPT_ROWS || count == ValueList.ROWS_PER_STATEMENT
                ? texts.computeIfAbsent(new Rows(insert, count), rows -> build(insert, row, count))
                : build(insert, row, count);
    }

    private String build(String insert, String row, int count) {
        return sql.sqlOnce(insert.replace("{rows}", String.join(", ", Collections.nCopies(count, row))));
    }
}
