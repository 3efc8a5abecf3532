/**
 * For tests of code that uses Postrider: a transport that records, and a way to move the database's time. The database
 * launchers and the contract suite are in the packages below.
 */
@NullMarked
package dev.postrider.testkit;

import org.jspecify.annotations.NullMarked;
