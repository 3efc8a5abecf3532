/** The systems that are measured: Postrider, hand-written JDBC, and the peers. One class each, the same verbs for all. */
@NullMarked
package dev.postrider.benchmarks.contender;

import org.jspecify.annotations.NullMarked;
