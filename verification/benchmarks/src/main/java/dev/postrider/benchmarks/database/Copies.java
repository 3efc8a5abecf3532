package dev.postrider.benchmarks.database;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Copies of backlogs, from which the database fills a table again: several times as fast as writing the same messages once more. A
 * round of a fast system needs hundreds of thousands of them.
 */
public final class Copies {

    private final Arena arena;
    private final Map<String, Integer> rows = new HashMap<>();
    private final Map<String, String> names = new LinkedHashMap<>();

    Copies(Arena arena) {
        this.arena = arena;
    }

    /**
     * Adds the first rows of a kept backlog to a table. They get new numbers, in the same order, as if they had been written now.
     *
     * @param content a name for what is in the rows
     * @return false if none that is large enough was kept
     */
    public boolean fill(String table, String content, int count) {
        String key = table + '/' + content;
        if (rows.getOrDefault(key, 0) < count) {
            return false;
        }
        String columns = arena.columns(table).stream()
                .filter(column -> !column.equals("seq"))
                .collect(Collectors.joining(", "));
        arena.execute(List.of("INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM "
                + names.get(key) + " ORDER BY seq LIMIT " + count));
        return true;
    }

    /** Keeps the rows of a table that has just been filled with this many, if it has no others. */
    public void keep(String table, String content, int count) {
        if (arena.count(table) != count) {
            return;
        }
        String key = table + '/' + content;
        String name = names.computeIfAbsent(key, any -> "bench_copy_" + names.size());
        arena.execute(List.of("DROP TABLE IF EXISTS " + name));
        arena.execute(arena.sql().copy(table, name));
        rows.put(key, count);
    }

    void drop() {
        names.values().forEach(name -> arena.execute(List.of("DROP TABLE IF EXISTS " + name)));
    }
}
