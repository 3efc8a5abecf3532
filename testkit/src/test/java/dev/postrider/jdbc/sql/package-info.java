/** Tests that need the statements themselves. */
@NullMarked
package dev.postrider.jdbc.sql;

import org.jspecify.annotations.NullMarked;
