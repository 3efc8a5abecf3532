/** The command: reads its arguments, measures, and writes the report. */
@NullMarked
package dev.postrider.benchmarks;

import org.jspecify.annotations.NullMarked;
