/**
 * The interface to destinations: a transport delivers one message and returns delivered, failed or rejected. This
 * package does not depend on tables or leases.
 */
@NullMarked
package dev.postrider.transport;

import org.jspecify.annotations.NullMarked;
