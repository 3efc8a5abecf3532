/** The figures, and their output: on the screen, as JSON, and as Markdown. */
@NullMarked
package dev.postrider.benchmarks.report;

import org.jspecify.annotations.NullMarked;
