/**
 * Tools for tests of code that uses Postrider: recorders for deliveries, handlers and events, a fake unit of work, commands in memory, a
 * clock for the tables, hooks and a proxy for faults, and a JUnit extension. The package {@code database} contains the database
 * launchers. Only the extension needs JUnit.
 */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;
