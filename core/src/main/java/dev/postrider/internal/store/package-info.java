/**
 * The parts of the interface between the engine and the database that only Postrider uses: lanes, handlers, commands, the inbox,
 * retention. Not API.
 */
@NullMarked
package dev.postrider.internal.store;

import org.jspecify.annotations.NullMarked;
