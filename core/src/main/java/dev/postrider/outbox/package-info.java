/**
 * Writing messages in the caller's transaction: immediately, or staged and written just before the commit. This
 * package does not depend on SQL, threads or brokers.
 */
@NullMarked
package dev.postrider.outbox;

import org.jspecify.annotations.NullMarked;
