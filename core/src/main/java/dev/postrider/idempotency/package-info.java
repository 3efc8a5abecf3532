/** Idempotent commands: run once per key, and answer every retry with the same result. */
@NullMarked
package dev.postrider.idempotency;

import org.jspecify.annotations.NullMarked;
