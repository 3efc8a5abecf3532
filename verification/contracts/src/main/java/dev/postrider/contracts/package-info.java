/**
 * The contract suite: the behaviour that Postrider requires of every database, as JUnit classes to extend. All dialects of Postrider
 * pass it. A subclass supplies a new database and declares the features that the database does not have.
 */
@NullMarked
package dev.postrider.contracts;

import org.jspecify.annotations.NullMarked;
