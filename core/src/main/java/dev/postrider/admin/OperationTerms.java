package dev.postrider.admin;

import dev.postrider.error.InvalidConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * Who starts a background operation, why, and how much it may do. Immutable. A value that is not valid throws
 * {@link InvalidConfigurationException}.
 *
 * @param operator the name of the operator, for the audit
 * @param reason the operator's reason, for the audit
 * @param limit the largest number of messages, at least 1; null for all that the filter selects
 * @param perSecond the largest number of messages per second, 1 to {@value #FASTEST}; null for as fast as the database allows
 */
public record OperationTerms(
        String operator,
        @Nullable String reason,
        @Nullable Long limit,
        @Nullable Integer perSecond) {

    /** The highest rate that can be set. */
    public static final int FASTEST = 1_000_000;

    private static final int LONGEST_NAME = 255;
    private static final int LONGEST_REASON = 1000;

    public OperationTerms {
        Checks.text("operator", operator, LONGEST_NAME);
        if (reason != null) {
            Checks.text("reason", reason, LONGEST_REASON);
        }
        if (limit != null && limit < 1) {
            throw new InvalidConfigurationException("limit", "must be at least 1, but is " + limit);
        }
        if (perSecond != null) {
            Checks.number("per-second", perSecond, 1, FASTEST);
        }
    }

    /** Returns terms without a limit, in the name of an operator. */
    public static OperationTerms by(@Nullable String operator) {
        return new OperationTerms(Checks.text("operator", operator, LONGEST_NAME), null, null, null);
    }

    public OperationTerms reason(@Nullable String text) {
        return new OperationTerms(operator, text, limit, perSecond);
    }

    public OperationTerms limit(long messages) {
        return new OperationTerms(operator, reason, messages, perSecond);
    }

    public OperationTerms perSecond(int messages) {
        return new OperationTerms(operator, reason, limit, messages);
    }
}
