/** Calls the tracer of the application, whose exceptions must have no effect. Without a tracer nothing is called or made. */
@NullMarked
package dev.postrider.internal.trace;

import org.jspecify.annotations.NullMarked;
