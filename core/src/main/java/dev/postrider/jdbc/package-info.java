/**
 * The store on JDBC. Each database has one dialect with complete SQL statements. Errors are classified by SQLState, and numbered
 * schema files create the tables. This is the only package that contains SQL. It starts no threads and uses no brokers.
 */
@NullMarked
package dev.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
