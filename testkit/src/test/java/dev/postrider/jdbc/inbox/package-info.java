/** Tests that need the statements themselves. */
@NullMarked
package dev.postrider.jdbc.inbox;

import org.jspecify.annotations.NullMarked;
