/** The database of all measurements, and probes of its use. */
@NullMarked
package dev.postrider.benchmarks.database;

import org.jspecify.annotations.NullMarked;
