package dev.postrider.testkit;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Finds texts, one after another, in a stream that arrives in pieces. A text may be split between pieces. Not thread-safe. */
final class RequestMatcher {

    private List<String> texts = List.of();
    private int found;
    private String rest = "";

    /** Returns true if this piece completes the last text. A different list of texts restarts the search. */
    boolean completes(List<String> wanted, byte[] bytes, int count) {
        if (!wanted.equals(texts)) {
            texts = wanted;
            found = 0;
            rest = "";
        }
        if (texts.isEmpty()) {
            return false;
        }
        String piece = rest + new String(bytes, 0, count, StandardCharsets.ISO_8859_1);
        int from = 0;
        while (found < texts.size()) {
            String text = texts.get(found);
            int at = piece.indexOf(text, from);
            if (at < 0) {
                rest = piece.substring(Math.max(from, piece.length() - text.length() + 1));
                return false;
            }
            from = at + text.length();
            found++;
        }
        found = 0;
        rest = "";
        return true;
    }
}
