package dev.postrider.checker;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One line of a journal: the time, the event, and values by name. It is a view of the read buffer, since a run has millions of lines.
 * It is valid until the next line is read.
 */
final class Line {

    private final String file;
    private byte[] bytes = new byte[0];
    private int start;
    private int end;

    /** The end of each field; the first two fields are the time and the event. */
    private int[] ends = new int[32];

    private int fields;

    Line(String file) {
        this.file = file;
    }

    Line at(byte[] buffer, int from, int to) {
        bytes = buffer;
        start = from;
        end = to;
        fields = 0;
        for (int place = from; place <= to; place++) {
            if (place == to || buffer[place] == '\t') {
                if (fields == ends.length) {
                    ends = Arrays.copyOf(ends, 2 * fields);
                }
                ends[fields++] = place;
            }
        }
        return this;
    }

    /** Microseconds since the epoch. */
    long time() {
        return number(start, ends[0]);
    }

    boolean is(String event) {
        return fields > 1 && ends[1] - ends[0] - 1 == event.length() && matches(ends[0] + 1, event);
    }

    /** The value, decoded; an empty text if the line does not have it. */
    String text(String name) {
        int from = find(name);
        if (from < 0) {
            return "";
        }
        String raw = new String(bytes, from, endOfField(from) - from, StandardCharsets.UTF_8);
        return raw.indexOf('%') < 0 && raw.indexOf('+') < 0 ? raw : URLDecoder.decode(raw, StandardCharsets.UTF_8);
    }

    boolean isTrue(String name) {
        return text(name).equals("true");
    }

    /** Zero if the value is missing or empty. */
    long number(String name) {
        int from = find(name);
        return from < 0 ? 0 : number(from, endOfField(from));
    }

    /** The number of an id. Texts that are no UUID are numbered by their hash. */
    int id(String name, Ids ids) {
        int from = find(name);
        if (from < 0 || endOfField(from) == from) {
            throw unreadable("has no " + name);
        }
        return isUuid(from) ? ids.of(hexadecimal(from, 0, 18), hexadecimal(from, 19, 36)) : ids.of(text(name));
    }

    /** Sixteen hexadecimal digits of a hash, from the given index on. */
    long digits(String name, int first) {
        int from = find(name);
        return from < 0 || endOfField(from) - from < first + 16
                ? text(name).hashCode()
                : hexadecimal(from, first, first + 16);
    }

    private boolean isUuid(int from) {
        if (endOfField(from) - from != 36) {
            return false;
        }
        for (int place = 0; place < 36; place++) {
            boolean dash = place == 8 || place == 13 || place == 18 || place == 23;
            if (dash ? bytes[from + place] != '-' : Character.digit(bytes[from + place], 16) < 0) {
                return false;
            }
        }
        return true;
    }

    private long hexadecimal(int from, int first, int last) {
        long value = 0;
        for (int place = from + first; place < from + last; place++) {
            if (bytes[place] != '-') {
                value = (value << 4) | (Character.digit(bytes[place], 16) & 15);
            }
        }
        return value;
    }

    private long number(int from, int to) {
        long value = 0;
        boolean negative = from < to && bytes[from] == '-';
        for (int place = negative ? from + 1 : from; place < to; place++) {
            int digit = bytes[place] - '0';
            if (digit < 0 || digit > 9) {
                throw unreadable("has no number where one is expected");
            }
            value = value * 10 + digit;
        }
        return negative ? -value : value;
    }

    /** The start of the value, or -1. */
    private int find(String name) {
        for (int field = 2; field < fields; field++) {
            int from = ends[field - 1] + 1;
            int equals = from + name.length();
            if (equals < ends[field] && bytes[equals] == '=' && matches(from, name)) {
                return equals + 1;
            }
        }
        return -1;
    }

    private boolean matches(int from, String text) {
        if (from + text.length() > end) {
            return false;
        }
        for (int place = 0; place < text.length(); place++) {
            if (bytes[from + place] != text.charAt(place)) {
                return false;
            }
        }
        return true;
    }

    private int endOfField(int from) {
        int place = from;
        while (place < end && bytes[place] != '\t') {
            place++;
        }
        return place;
    }

    UnreadableEvidenceException unreadable(String why) {
        return new UnreadableEvidenceException(
                file + " " + why + ": " + new String(bytes, start, end - start, StandardCharsets.UTF_8));
    }
}
