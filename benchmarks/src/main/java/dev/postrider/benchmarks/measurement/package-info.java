/** What is measured: one class for each question. Everything is repeated in rounds, the systems taking turns. */
@NullMarked
package dev.postrider.benchmarks.measurement;

import org.jspecify.annotations.NullMarked;
