package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import org.jspecify.annotations.Nullable;

/** Checks the name of an operator, which the audit table stores. */
final class OperatorName {

    /** The length of the column. */
    private static final int LONGEST = 255;

    private OperatorName() {}

    /** @throws InvalidConfigurationException if the name is blank, too long for the audit table, or not readable there */
    static void check(@Nullable String operator) {
        if (operator == null || operator.isBlank() || operator.length() > LONGEST || !isReadable(operator)) {
            throw new InvalidConfigurationException(
                    "operator",
                    "must be the name of the operator in 1 to " + LONGEST
                            + " characters, without control characters and unpaired surrogates");
        }
    }

    /** A pair of surrogates is one code point. An unpaired one stays a code point of type SURROGATE. */
    private static boolean isReadable(String operator) {
        return operator.codePoints()
                .noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
    }
}
