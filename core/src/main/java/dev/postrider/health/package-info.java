/**
 * The health of a node and of the database, judged from events. A {@link dev.postrider.health.HealthCheck} is a listener:
 * it asks the database nothing, so it answers at any time.
 */
@NullMarked
package dev.postrider.health;

import org.jspecify.annotations.NullMarked;
