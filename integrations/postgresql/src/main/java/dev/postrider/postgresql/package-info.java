/**
 * A doorbell for PostgreSQL: nodes wake each other after commits over LISTEN and NOTIFY. No notification is sent in a
 * transaction of the application, and no delivery depends on it: a lost ring costs the time until the next poll.
 */
@NullMarked
package dev.postrider.postgresql;

import org.jspecify.annotations.NullMarked;
