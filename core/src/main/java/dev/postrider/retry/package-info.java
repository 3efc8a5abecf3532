/**
 * Retry delays as pure functions of the attempt number and a random number. This package does not depend on clocks or
 * threads.
 */
@NullMarked
package dev.postrider.retry;

import org.jspecify.annotations.NullMarked;
