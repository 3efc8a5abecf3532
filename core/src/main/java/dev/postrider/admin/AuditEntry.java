package dev.postrider.admin;

import dev.postrider.message.MessageId;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the audit: a change by an operator. Immutable.
 *
 * @param id the number of the entry; the next page of the list continues below it
 * @param action such as {@code REPLAY}, {@code PAUSE} or {@code COMMAND_FAILED}
 * @param topic the topic, or the operation of a command; null if the change concerns none or several
 * @param message the changed message, or the reference of the changed command; null if the change concerns none or several
 * @param filter the filter of a change of several messages; null otherwise
 * @param changed the number of messages that one step of such a change has changed; null for other changes
 * @param skipped the number of messages that the step has skipped; null for other changes
 */
public record AuditEntry(
        long id,
        Instant at,
        String operator,
        String action,
        @Nullable String topic,
        @Nullable MessageId message,
        @Nullable String filter,
        @Nullable String reason,
        @Nullable Integer changed,
        @Nullable Integer skipped) {}
