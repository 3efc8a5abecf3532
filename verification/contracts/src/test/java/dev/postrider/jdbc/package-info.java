/** Tests that need the statements themselves. */
@NullMarked
package dev.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
