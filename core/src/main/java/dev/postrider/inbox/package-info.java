/** The inbox: each message takes effect once per consumer. */
@NullMarked
package dev.postrider.inbox;

import org.jspecify.annotations.NullMarked;
