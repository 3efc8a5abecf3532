/**
 * How long to wait before the next attempt: pure functions of the attempt number and a chance. This room knows no clocks and no threads.
 */
@NullMarked
package dev.postrider.retry;

import org.jspecify.annotations.NullMarked;
