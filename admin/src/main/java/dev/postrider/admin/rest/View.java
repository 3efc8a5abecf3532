package dev.postrider.admin.rest;

import dev.postrider.message.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * What an operator may see of messages. Immutable.
 *
 * @param payloads whether payloads and the values of headers are shown
 */
record View(boolean payloads, Redaction redaction) {

    @Nullable
    String error(TopicName topic, @Nullable String error) {
        return error == null ? null : redaction.redact(topic, Redaction.Part.ERROR, error);
    }
}
