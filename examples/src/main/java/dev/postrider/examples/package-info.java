/**
 * Examples: one runnable file for each feature. Each has a {@code main} that runs with a database in memory and prints what happens.
 * The tests run the same code and check its output, and the documentation quotes it.
 */
@NullMarked
package dev.postrider.examples;

import org.jspecify.annotations.NullMarked;
