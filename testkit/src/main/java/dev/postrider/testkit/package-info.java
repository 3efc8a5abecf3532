/**
 * Tools for tests of code that uses Postrider: recorders for deliveries, handlers and events, a fake unit of work, commands in memory, a
 * clock for the tables, hooks and a proxy for faults, and a JUnit extension. The packages below contain the database launchers and the
 * contract suite. Only the extension and the suite need JUnit, and only the suite needs AssertJ.
 */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;
