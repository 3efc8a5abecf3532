package dev.postrider.admin;

import dev.postrider.admin.StoredMessage.State;
import org.jspecify.annotations.Nullable;

/**
 * Who changes messages, why, and how many at most. Immutable. A value that is not valid throws
 * {@link dev.postrider.error.InvalidConfigurationException}.
 *
 * @param operator the name of the operator, for the audit; null only in a dry run
 * @param reason the operator's reason, for the audit
 * @param limit the largest number of messages, 1 to {@value #MOST}
 * @param expected the state in which the operator saw the message; a message in another state is not changed. Null for
 *     every state that the action changes
 * @param cursor the {@link ChangeResult#next()} of the call before; null to begin with the oldest message
 */
public record Change(
        @Nullable String operator,
        @Nullable String reason,
        int limit,
        @Nullable State expected,
        @Nullable String cursor) {

    /** The largest number of messages that one call changes. */
    public static final int MOST = 10_000;

    private static final int LONGEST_NAME = 255;
    private static final int LONGEST_REASON = 1000;

    public Change {
        if (operator != null) {
            Checks.text("operator", operator, LONGEST_NAME);
        }
        if (reason != null) {
            Checks.text("reason", reason, LONGEST_REASON);
        }
        Checks.number("limit", limit, 1, MOST);
    }

    /** Returns a change in the name of an operator, of up to {@value #MOST} messages. */
    public static Change by(@Nullable String operator) {
        return new Change(Checks.text("operator", operator, LONGEST_NAME), null, MOST, null, null);
    }

    /** Returns a dry run: it counts and shows what would be changed, and changes nothing. */
    public static Change dryRun() {
        return new Change(null, null, MOST, null, null);
    }

    public Change reason(@Nullable String text) {
        return new Change(operator, text, limit, expected, cursor);
    }

    public Change limit(int messages) {
        return new Change(operator, reason, messages, expected, cursor);
    }

    public Change expecting(State state) {
        return new Change(operator, reason, limit, state, cursor);
    }

    /** Returns the continuation of a call that did not reach the end. */
    public Change after(@Nullable String next) {
        return new Change(operator, reason, limit, expected, next);
    }

    public boolean isDryRun() {
        return operator == null;
    }
}
