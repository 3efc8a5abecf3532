/**
 * A run that tries to break the promise: processes that write, deliver, receive and ask, a database behind proxies, and a seeded
 * schedule of everything that can go wrong. All of them keep journals outside the database; whether the promise held is judged
 * from these by a program that shares no code with Postrider.
 */
@NullMarked
package dev.postrider.torture;

import org.jspecify.annotations.NullMarked;
