package dev.postrider.checker;

import java.util.stream.IntStream;

/** The rows of a column grouped by value, in the order in which they were written: two arrays instead of a million lists. */
final class Groups {

    private final int[] starts;
    private final int[] rows;

    private Groups(int[] starts, int[] rows) {
        this.starts = starts;
        this.rows = rows;
    }

    /** @param column the column; its values are below {@code values}, and rows with a negative value are left out */
    static Groups of(Ints column, int values) {
        int[] starts = new int[values + 1];
        for (int row = 0; row < column.size(); row++) {
            if (column.get(row) >= 0) {
                starts[column.get(row) + 1]++;
            }
        }
        for (int value = 0; value < values; value++) {
            starts[value + 1] += starts[value];
        }
        int[] next = starts.clone();
        int[] rows = new int[starts[values]];
        for (int row = 0; row < column.size(); row++) {
            if (column.get(row) >= 0) {
                rows[next[column.get(row)]++] = row;
            }
        }
        return new Groups(starts, rows);
    }

    int size(int value) {
        return value + 1 < starts.length ? starts[value + 1] - starts[value] : 0;
    }

    /** One row of a group; the first has the index zero. */
    int row(int value, int number) {
        return rows[starts[value] + number];
    }

    IntStream rows(int value) {
        return IntStream.range(0, size(value)).map(number -> row(value, number));
    }
}
