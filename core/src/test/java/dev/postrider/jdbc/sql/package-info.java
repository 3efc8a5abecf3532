/** Tests of the JDBC room that need no database. */
@NullMarked
package dev.postrider.jdbc.sql;

import org.jspecify.annotations.NullMarked;
