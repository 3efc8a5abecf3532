package dev.postrider.torture;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** One line of a journal. Immutable. */
record JournalLine(long micros, String event, Map<String, String> values) {

    static JournalLine parse(String line) {
        String[] fields = line.split("\t", -1);
        Map<String, String> values = new HashMap<>();
        for (int i = 2; i < fields.length; i++) {
            int equals = fields[i].indexOf('=');
            values.put(
                    fields[i].substring(0, equals),
                    URLDecoder.decode(fields[i].substring(equals + 1), StandardCharsets.UTF_8));
        }
        return new JournalLine(Long.parseLong(fields[0]), fields[1], Map.copyOf(values));
    }

    /** An empty text if the line does not have the value. */
    String value(String name) {
        return values.getOrDefault(name, "");
    }
}
