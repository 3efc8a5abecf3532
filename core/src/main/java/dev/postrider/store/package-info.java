/**
 * The seam between the engine and the database, in the verbs of the domain: claim, acknowledge, reschedule, bury, release, extend, sweep. A claim carries its lease; only an outcome with that lease comes back. This room does not know how rows are stored.
 */
@NullMarked
package dev.postrider.store;

import org.jspecify.annotations.NullMarked;
