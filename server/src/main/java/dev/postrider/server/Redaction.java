package dev.postrider.server;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Prepares a text for output: one line, no secrets. Pure functions. */
final class Redaction {

    /** Up to the last at sign before the path: a password may contain an at sign. */
    private static final Pattern USER_INFO = Pattern.compile("//[^/\\s?;]*@");

    private static final Pattern PARAMETER =
            Pattern.compile("(?i)\\b([a-z_-]*(?:password|passwd|pwd|secret|token))(\\s*=\\s*)[^&;\\s]+");

    private static final Pattern SIGNING_KEY = Pattern.compile("\\b(whsec_|whsk_)[A-Za-z0-9+/=_-]+");

    /**
     * Scheme, then the user and the password with an at sign after them, then hosts with ports, the database, and the
     * rest.
     */
    private static final Pattern ADDRESS = Pattern.compile(
            "((?:jdbc:)?[a-z0-9:]+//)([^/?;&#\\\\@\\s]*@)?((?:[\\w.-]+|\\[[0-9a-fA-F:.]+])(?::\\d+)?"
                    + "(?:,(?:[\\w.-]+|\\[[0-9a-fA-F:.]+])(?::\\d+)?)*(?:/[\\w.$-]*)?)([?;&].*)?",
            Pattern.CASE_INSENSITIVE);

    /** The URL of a database without a host: jdbc:h2:mem:x. */
    private static final Pattern LOCAL_ADDRESS = Pattern.compile("(jdbc:[\\w:]+(?!//)[\\w./~-]*)([?;&].*)?");

    private static final Pattern SCHEME = Pattern.compile("(?i)^(?:jdbc:)?[a-z0-9]+:(?://)?");

    /** The text after the name of a secret parameter, and the text before an at sign. */
    private static final Pattern HIDDEN =
            Pattern.compile("(?i)(?:password|passwd|pwd|secret|token)\\s*=(.*)|//[^/:]*:(.*)@");

    private static final Pattern BREAKS = Pattern.compile("\\s*\\p{Cntrl}+\\s*");

    private Redaction() {}

    /**
     * The target of a URL: scheme, host, port and database. The rest is hidden. Of a URL that cannot be parsed with
     * certainty only the scheme is shown: a password may contain any character.
     */
    static String url(String url) {
        Matcher local = LOCAL_ADDRESS.matcher(url);
        if (local.matches()) {
            return local.group(1)
                    + (local.group(2) == null ? "" : local.group(2).charAt(0) + "***");
        }
        Matcher address = ADDRESS.matcher(url);
        // A second at sign may belong to a password whose first part looks like a host.
        boolean certain = address.matches()
                && (address.group(4) == null || address.group(4).indexOf('@') < 0);
        if (!certain) {
            Matcher scheme = SCHEME.matcher(url);
            return (scheme.find() ? scheme.group() : "") + "***";
        }
        return address.group(1)
                + (address.group(2) == null ? "" : "***@")
                + address.group(3)
                + (address.group(4) == null ? "" : address.group(4).charAt(0) + "***");
    }

    /** A driver's text about this URL, without the URL and without parts of its passwords. */
    static String about(String url, String text) {
        String shown = text.replace(url, url(url));
        Matcher hidden = HIDDEN.matcher(url);
        while (hidden.find()) {
            String secret = hidden.group(1) == null ? hidden.group(2) : hidden.group(1);
            List<String> parts = new ArrayList<>(List.of(secret.split("[?&;=@/:,]", -1)));
            parts.sort(Comparator.comparing(String::length).reversed()); // one part may be the prefix of another
            for (String part : parts) {
                shown = part.length() < 3 ? shown : shown.replace(part, "***");
            }
        }
        return line(shown);
    }

    static String line(@Nullable String text) {
        String oneLine = BREAKS.matcher(String.valueOf(text)).replaceAll(" ").strip();
        String anonymous = USER_INFO.matcher(oneLine).replaceAll("//***@");
        String withoutKeys = SIGNING_KEY.matcher(anonymous).replaceAll("$1***");
        return PARAMETER.matcher(withoutKeys).replaceAll("$1$2***");
    }
}
