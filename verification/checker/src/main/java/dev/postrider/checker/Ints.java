package dev.postrider.checker;

import java.util.Arrays;

/** A growing column of numbers. A value that was never set has the column's default. */
final class Ints {

    private final int absent;
    private int[] values = new int[16];
    private int size;

    Ints(int absent) {
        this.absent = absent;
        Arrays.fill(values, absent);
    }

    int add(int value) {
        set(size, value);
        return size - 1;
    }

    int get(int index) {
        return index < size ? values[index] : absent;
    }

    void set(int index, int value) {
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
