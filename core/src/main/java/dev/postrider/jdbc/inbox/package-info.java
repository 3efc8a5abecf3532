/**
 * Receiving messages: marks, partitions, and the distribution to handlers.
 */
@NullMarked
package dev.postrider.jdbc.inbox;

import org.jspecify.annotations.NullMarked;
