/**
 * The store on JDBC: one dialect per database with its statements written whole, errors classified by SQLState, and the numbered schema files. The only room that speaks SQL; it knows no threads and no brokers.
 */
@NullMarked
package dev.postrider.jdbc;

import org.jspecify.annotations.NullMarked;
