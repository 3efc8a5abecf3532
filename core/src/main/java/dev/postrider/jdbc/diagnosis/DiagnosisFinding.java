package dev.postrider.jdbc.diagnosis;

import org.jspecify.annotations.Nullable;

/**
 * One result of a diagnosis. Immutable.
 *
 * @param check the name of the check, in lower case with dashes
 * @param text what was found, in a sentence
 * @param fix the command or the SQL that fixes it; null if there is nothing to fix
 */
public record DiagnosisFinding(
        Severity severity,
        String check,
        String text,
        @Nullable String fix) {

    public static DiagnosisFinding ok(String check, String text) {
        return new DiagnosisFinding(Severity.OK, check, text, null);
    }

    public static DiagnosisFinding warn(String check, String text, String fix) {
        return new DiagnosisFinding(Severity.WARN, check, text, fix);
    }

    public static DiagnosisFinding error(String check, String text, String fix) {
        return new DiagnosisFinding(Severity.ERROR, check, text, fix);
    }
}
