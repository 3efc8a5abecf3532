/** The figures, and how they are shown: on the screen, as JSON, and as a page. */
@NullMarked
package dev.postrider.benchmarks.report;

import org.jspecify.annotations.NullMarked;
