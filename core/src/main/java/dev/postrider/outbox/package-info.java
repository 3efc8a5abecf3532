/**
 * Writing a message in the caller's own transaction: at once, or staged and written just before commit. This room knows no SQL, no threads and no brokers.
 */
@NullMarked
package dev.postrider.outbox;

import org.jspecify.annotations.NullMarked;
