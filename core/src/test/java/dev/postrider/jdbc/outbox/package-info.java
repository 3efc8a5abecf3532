/** Tests of the JDBC room that need no database. */
@NullMarked
package dev.postrider.jdbc.outbox;

import org.jspecify.annotations.NullMarked;
