package dev.postrider.server;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes a text fit to be printed: one line, no secrets. Pure functions. */
final class Redaction {

    /** Up to the last at sign before the path: a password may hold one itself. */
    private static final Pattern USER_INFO = Pattern.compile("//[^/\\s?;]*@");

    private static final Pattern PARAMETER =
            Pattern.compile("(?i)\\b([a-z_-]*(?:password|passwd|pwd|secret|token))(\\s*=\\s*)[^&;\\s]+");

    private static final Pattern SIGNING_KEY = Pattern.compile("\\b(whsec_|whsk_)[A-Za-z0-9+/=_-]+");

    private static final Pattern BREAKS = Pattern.compile("\\s*\\p{Cntrl}+\\s*");

    private Redaction() {}

    static String line(@Nullable String text) {
        String oneLine = BREAKS.matcher(String.valueOf(text)).replaceAll(" ").strip();
        String anonymous = USER_INFO.matcher(oneLine).replaceAll("//***@");
        String withoutKeys = SIGNING_KEY.matcher(anonymous).replaceAll("$1***");
        return PARAMETER.matcher(withoutKeys).replaceAll("$1$2***");
    }
}
