package dev.postrider.checker;

/** Something that was broken on purpose, from when to when in microseconds. */
record Fault(String kind, String target, long from, long to) {

    boolean overlaps(long begin, long end) {
        return from <= end && to >= begin;
    }
}
