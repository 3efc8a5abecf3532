package dev.postrider.jdbc;

import dev.postrider.admin.Change;
import org.jspecify.annotations.Nullable;

/** Checks the name of an operator, which the audit table stores. */
final class OperatorName {

    private OperatorName() {}

    /**
     * @throws dev.postrider.error.InvalidConfigurationException if the name is blank, too long for the audit table, or not readable
     *     there
     */
    static void check(@Nullable String operator) {
        Change.by(operator);
    }
}
