/** Idempotent commands: a command runs once per key, and every retry gets the same result. */
@NullMarked
package dev.postrider.idempotency;

import org.jspecify.annotations.NullMarked;
