/**
 * Claims and outcomes, for an application that delivers in a loop of its own, and the options of the tables. A claim
 * carries its lease, and an outcome is written only under this lease.
 */
@NullMarked
package dev.postrider.store;

import org.jspecify.annotations.NullMarked;
