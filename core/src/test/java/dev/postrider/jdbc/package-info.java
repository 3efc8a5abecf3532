/** Tests of the JDBC room that need no database. */
@NullMarked
package dev.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
