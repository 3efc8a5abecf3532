/**
 * Writing messages in the transaction of the caller: inserts, marks of idempotency keys, units of work and the registry of topics.
 */
@NullMarked
package dev.postrider.jdbc.outbox;

import org.jspecify.annotations.NullMarked;
