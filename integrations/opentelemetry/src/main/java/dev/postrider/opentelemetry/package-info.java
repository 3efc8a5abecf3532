/**
 * Spans of OpenTelemetry for messages and commands, by the semantic conventions for messaging. The trace context travels with the
 * stored message, so that one trace leads from a request to the receivers of its messages.
 */
@NullMarked
package dev.postrider.opentelemetry;

import org.jspecify.annotations.NullMarked;
