/**
 * The interface to tracers: a tracer names the trace context that is stored with a message, and follows deliveries, handlers
 * and commands with spans. This package does not depend on a tracing library.
 */
@NullMarked
package dev.postrider.trace;

import org.jspecify.annotations.NullMarked;
