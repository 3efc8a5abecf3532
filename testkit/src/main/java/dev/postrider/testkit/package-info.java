/**
 * For tests of code that uses Postrider: recorders for deliveries, handlers and events, a fake unit of work, commands in memory, a way
 * to move the database's time, and an extension for JUnit. The database launchers and the contract suite are in the packages below.
 * Only the extension and the suite need JUnit, and only the suite needs AssertJ.
 */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;
