/**
 * The events of the library, and the listener interface that receives them. Logs, metrics and traces are listeners.
 * This package does not depend on the engine or on the database.
 */
@NullMarked
package dev.postrider.event;

import org.jspecify.annotations.NullMarked;
