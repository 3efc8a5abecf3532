/** Load that goes on for long, with a snapshot held in the middle: what grows, and whether it shrinks again. */
@NullMarked
package dev.postrider.benchmarks.soak;

import org.jspecify.annotations.NullMarked;
