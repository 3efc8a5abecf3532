package dev.postrider.checker;

/** An injected fault, with begin and end in microseconds. */
record Fault(String kind, String target, long from, long to) {

    boolean overlaps(long begin, long end) {
        return from <= end && to >= begin;
    }
}
