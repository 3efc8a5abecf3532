/**
 * The store on JDBC. For each subject there is an interface with its statements, and one implementation for each family of
 * databases, with complete SQL beside the code that binds it. Only this package and those below it contain SQL. They start no threads and
 * use no brokers.
 */
@NullMarked
package dev.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
