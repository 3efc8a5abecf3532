package dev.postrider.checker;

import java.util.Arrays;

/** A growing column of long numbers. A value that was never set has the column's default. */
final class Longs {

    private final long absent;
    private long[] values = new long[16];
    private int size;

    Longs(long absent) {
        this.absent = absent;
        Arrays.fill(values, absent);
    }

    int add(long value) {
        set(size, value);
        return size - 1;
    }

    long get(int index) {
        return index < size ? values[index] : absent;
    }

    void set(int index, long value) {
        if (index >= values.length) {
            int before = values.length;
            values = Arrays.copyOf(values, Math.max(index + 1, before + (before >> 1)));
            Arrays.fill(values, before, values.length, absent);
        }
        values[index] = value;
        size = Math.max(size, index + 1);
    }

    int size() {
        return size;
    }
}
