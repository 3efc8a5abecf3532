/** The {@code Idempotency-Key} header for servlet applications, as a filter. */
@NullMarked
package dev.postrider.servlet;

import org.jspecify.annotations.NullMarked;
