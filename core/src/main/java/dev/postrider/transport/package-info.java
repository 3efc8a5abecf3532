/**
 * The seam to the outside: a transport takes one delivery and answers delivered, failed or rejected. This room knows nothing of tables or leases.
 */
@NullMarked
package dev.postrider.transport;

import org.jspecify.annotations.NullMarked;
