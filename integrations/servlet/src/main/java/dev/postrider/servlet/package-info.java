/** A servlet filter for the {@code Idempotency-Key} header. */
@NullMarked
package dev.postrider.servlet;

import org.jspecify.annotations.NullMarked;
