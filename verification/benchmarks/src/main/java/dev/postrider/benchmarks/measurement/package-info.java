/** The measurements: one class for each question. All systems are measured alternately in rounds. */
@NullMarked
package dev.postrider.benchmarks.measurement;

import org.jspecify.annotations.NullMarked;
