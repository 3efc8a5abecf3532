/**
 * A run that tries to break the promise: processes that write, deliver, receive and run commands, a database behind proxies, and a
 * seeded schedule of faults. All processes keep journals outside the database. The checker, which shares no code with Postrider,
 * judges from the journals whether the promise held.
 */
@NullMarked
package dev.postrider.torture;

import org.jspecify.annotations.NullMarked;
