package dev.postrider.jdbc.outbox;

import dev.postrider.internal.ErrorText;

/** Reads the address from a JDBC URL, without parameters: they may contain secrets and do not identify the database. */
final class Urls {

    private static final int LIMIT = 500;

    private Urls() {}

    static String address(String url) {
        int end = url.length();
        for (char separator : new char[] {'?', ';'}) {
            int at = url.indexOf(separator);
            end = at < 0 ? end : Math.min(end, at);
        }
        return url.substring(0, end);
    }

    /** Returns an address for an error text, without the user and the password that it may contain. */
    static String shown(String address) {
        int authority = address.indexOf("://") + 3;
        int at = authority < 3 ? -1 : address.lastIndexOf('@');
        String anonymous = at < authority ? address : address.substring(0, authority) + "***" + address.substring(at);
        return ErrorText.clean(anonymous, LIMIT);
    }
}
