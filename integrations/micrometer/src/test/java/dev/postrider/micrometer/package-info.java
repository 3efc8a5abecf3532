/** Tests of the metrics, on PostgreSQL. */
@NullMarked
package dev.postrider.micrometer;

import org.jspecify.annotations.NullMarked;
