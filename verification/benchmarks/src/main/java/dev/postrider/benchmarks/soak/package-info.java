/** A long load with an open snapshot in the middle: shows which values grow, and whether they shrink again. */
@NullMarked
package dev.postrider.benchmarks.soak;

import org.jspecify.annotations.NullMarked;
