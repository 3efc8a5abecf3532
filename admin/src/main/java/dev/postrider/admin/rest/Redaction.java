package dev.postrider.admin.rest;

import dev.postrider.message.TopicName;

/**
 * Changes texts of messages before an operator sees them, for example to mask card numbers. It is called for operators that
 * may see the text at all. Implementations are thread-safe.
 */
@FunctionalInterface
public interface Redaction {

    /** The texts that are passed. */
    enum Part {
        /** The payload, as text if it is UTF-8, otherwise in Base64. */
        PAYLOAD,
        /** The value of one header. */
        HEADER,
        /** An error text, in lists too. */
        ERROR
    }

    /** Returns the text to show. An exception fails the request. */
    String redact(TopicName topic, Part part, String text);
}
