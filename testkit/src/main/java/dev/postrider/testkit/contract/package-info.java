/**
 * What every database must do the same: the suite that Postrider's own dialects pass, as JUnit classes to extend. A subclass
 * supplies a fresh database and, where the database cannot do something, says so.
 */
@NullMarked
package dev.postrider.testkit.contract;

import org.jspecify.annotations.NullMarked;
