package dev.postrider.jdbc;

import dev.postrider.internal.ErrorText;

/** Says where a JDBC URL leads, without its parameters: those may hold secrets, and do not make it another database. */
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

    /** An address for an error text, without the user and the password that it may hold. */
    static String shown(String address) {
        int authority = address.indexOf("://") + 3;
        int at = authority < 3 ? -1 : address.lastIndexOf('@');
        String anonymous = at < authority ? address : address.substring(0, authority) + "***" + address.substring(at);
        return ErrorText.clean(anonymous, LIMIT);
    }
}
