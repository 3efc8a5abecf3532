/**
 * One runnable file for each feature. Each has a {@code main} that runs against a database in memory and says what happens; the
 * tests run the same code and check what it says, and the documentation quotes it.
 */
@NullMarked
package dev.postrider.examples;

import org.jspecify.annotations.NullMarked;
