/**
 * What happens, as records handed to one listener interface. Logs, metrics and traces are listeners; nothing in here knows the rest of the house.
 */
@NullMarked
package dev.postrider.event;

import org.jspecify.annotations.NullMarked;
