package dev.postrider.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A set of numbers in ascending order, for a few hundred numbers that mostly are added at its end and removed near its
 * beginning. Unlike a tree it makes no objects. Not thread-safe.
 */
final class NumberSet {

    private static final int FIRST_ROOM = 16;

    /** The numbers are in {@code numbers[begin]} to {@code numbers[end - 1]}. */
    private long[] numbers = new long[FIRST_ROOM];

    private int begin;
    private int end;

    boolean isEmpty() {
        return begin == end;
    }

    /** Returns the lowest number. The set must not be empty. */
    long first() {
        return numbers[begin];
    }

    boolean contains(long number) {
        return find(number) >= 0;
    }

    /** Returns false if the set has the number already. */
    boolean add(long number) {
        int at = isEmpty() || numbers[end - 1] < number ? ~end : find(number);
        if (at >= 0) {
            return false;
        }
        int place = ~at;
        if (end == numbers.length) {
            place -= begin;
            makeRoom();
        }
        System.arraycopy(numbers, place, numbers, place + 1, end - place);
        numbers[place] = number;
        end++;
        return true;
    }

    /** Moves the numbers to the beginning of the array, of a larger one if this one is more than half full. */
    private void makeRoom() {
        int count = end - begin;
        long[] target = count > numbers.length / 2 ? new long[2 * numbers.length] : numbers;
        System.arraycopy(numbers, begin, target, 0, count);
        numbers = target;
        begin = 0;
        end = count;
    }

    /** Returns false if the set does not have the number. */
    boolean remove(long number) {
        int at = find(number);
        if (at < 0) {
            return false;
        }
        if (at - begin < end - at) {
            System.arraycopy(numbers, begin, numbers, begin + 1, at - begin);
            begin++;
        } else {
            System.arraycopy(numbers, at + 1, numbers, at, end - at - 1);
            end--;
        }
        return true;
    }

    /** Returns the numbers above this one, in ascending order. */
    List<Long> above(long number) {
        int at = find(number);
        List<Long> above = new ArrayList<>();
        for (int i = at < 0 ? ~at : at + 1; i < end; i++) {
            above.add(numbers[i]);
        }
        return above;
    }

    private int find(long number) {
        return Arrays.binarySearch(numbers, begin, end, number);
    }
}
