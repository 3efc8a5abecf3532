/** Tests of idempotency keys that need no server. */
@NullMarked
package dev.postrider.idempotency.http;

import org.jspecify.annotations.NullMarked;
