/** The systems under measurement: Postrider, hand-written JDBC, and the peers. One class each, with the same methods. */
@NullMarked
package dev.postrider.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
