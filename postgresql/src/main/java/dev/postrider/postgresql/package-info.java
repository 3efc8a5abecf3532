/**
 * What only PostgreSQL can do: nodes tell each other of commits over LISTEN and NOTIFY. Nothing here is sent in a transaction of the application's, and nothing depends on it: a ring that is lost costs the time until the next poll.
 */
@NullMarked
package dev.postrider.postgresql;

import org.jspecify.annotations.NullMarked;
