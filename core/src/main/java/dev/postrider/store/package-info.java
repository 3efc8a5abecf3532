/**
 * The interface between the engine and the database, in the verbs of the domain: claim, acknowledge, reschedule,
 * bury, release, extend, sweep. A claim carries its lease, and an outcome is written only under this lease. This
 * package does not depend on JDBC statements or tables.
 */
@NullMarked
package dev.postrider.store;

import org.jspecify.annotations.NullMarked;
