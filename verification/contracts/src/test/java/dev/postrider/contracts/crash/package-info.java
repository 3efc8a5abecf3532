/**
 * Real processes, killed and stopped at chosen moments; a real database, killed under load; connections that break after the
 * database did what it was asked. What is asserted is the promise: nothing lost, nothing delivered that was not committed, and
 * no more duplicates than were in flight.
 */
@NullMarked
package dev.postrider.contracts.crash;

import org.jspecify.annotations.NullMarked;
