/** Tests of the traces, on H2. */
@NullMarked
package dev.postrider.opentelemetry;

import org.jspecify.annotations.NullMarked;
