package dev.postrider.benchmarks.report;

import java.util.regex.Pattern;

/** Turns text into HTML. */
final class Html {

    private static final Pattern CODE = Pattern.compile("`([^`]*)`");
    private static final Pattern BOLD = Pattern.compile("\\*\\*([^*]*)\\*\\*");

    private Html() {}

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** Text with the two marks of Markdown that cells and lines use: code and bold. */
    static String marked(String text) {
        String code = CODE.matcher(escaped(text)).replaceAll("<code>$1</code>");
        return BOLD.matcher(code).replaceAll("<b>$1</b>");
    }
}
