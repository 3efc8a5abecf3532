package dev.postrider.server.cli;

import dev.postrider.admin.MessageSummary;

/** How messages are listed. */
final class MessageColumns {

    static final Columns<MessageSummary> SUMMARY = Columns.<MessageSummary>none()
            .with("id", "ID", MessageSummary::id)
            .with("state", "STATE", MessageSummary::state)
            .with("topic", "TOPIC", MessageSummary::topic)
            .with("type", "TYPE", MessageSummary::type)
            .with("key", "KEY", MessageSummary::orderingKey)
            .with("attempts", "ATTEMPTS", MessageSummary::attempts)
            .with("createdAt", "CREATED", MessageSummary::createdAt)
            .detail("seq", message -> Long.toString(message.seq()))
            .detail("tenant", MessageSummary::tenant)
            .detail("idempotencyKey", MessageSummary::idempotencyKey)
            .detail("crashes", MessageSummary::crashes)
            .detail("payloadBytes", MessageSummary::payloadBytes)
            .detail("dueAt", MessageSummary::dueAt)
            .detail("changedAt", MessageSummary::changedAt)
            .detail("deliveredAt", MessageSummary::deliveredAt)
            .detail("worker", MessageSummary::worker)
            .detail("reason", MessageSummary::reason)
            .detail("fingerprint", MessageSummary::fingerprint)
            .with("lastError", "ERROR", MessageSummary::lastError);

    private MessageColumns() {}
}
