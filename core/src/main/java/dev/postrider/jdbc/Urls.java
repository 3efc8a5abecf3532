package dev.postrider.jdbc;

/** Says where a JDBC URL leads, without its parameters: those may hold secrets, and do not make it another database. */
final class Urls {

    private Urls() {}

    static String address(String url) {
        int end = url.length();
        for (char separator : new char[] {'?', ';'}) {
            int at = url.indexOf(separator);
            end = at < 0 ? end : Math.min(end, at);
        }
        return url.substring(0, end);
    }
}
